#include "core/text/lexer.hpp"

#include <algorithm>

namespace tcsim {

Token Lexer::take() {
  const Token taken = next_;
  advance();
  return taken;
}

void Lexer::advance() {
  while (!text_.empty() && (is_blank(text_[0]) || text_[0] == '#')) {
    skip(text_[0] == '#' ? std::min(text_.find('\n'), text_.size()) : 1);
  }
  const std::size_t size = size_(text_);
  next_ = {text_.substr(0, size), line_, column_};
  skip(size);
}

void Lexer::skip(std::size_t size) {
  for (char c : text_.substr(0, size)) {
    column_ = c == '\n' ? 1 : column_ + 1;
    line_ += c == '\n';
  }
  text_.remove_prefix(size);
}

std::size_t size_of_word(std::string_view rest, std::string_view signs) {
  std::size_t size = 0;
  while (size < rest.size() && !Lexer::is_blank(rest[size]) && rest[size] != '#') {
    const bool sign = signs.find(rest[size]) != std::string_view::npos;
    if (sign && size > 0) break;
    ++size;
    if (sign) break;
  }
  return size;
}

}  // namespace tcsim
