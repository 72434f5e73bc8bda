// Cuts a text into tokens for a parser, and knows where each stands. Blanks are free, and "#"
// begins a comment that ends with its line.
#pragma once

#include <cstddef>
#include <string_view>

namespace tcsim {

// One token, or (empty) the end of the text. Lines and columns count from 1.
struct Token {
  std::string_view text;
  int line = 1, column = 1;
};

class Lexer {
 public:
  // How long the token is that the rest of the text begins with; the rest begins with no blank and
  // no comment. 0 at the end alone.
  using SizeOfToken = std::size_t (*)(std::string_view rest);

  Lexer(std::string_view text, SizeOfToken size) : text_(text), size_(size) { advance(); }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  const Token& next() const { return next_; }
  Token take();

 private:
  void advance();
  void skip(std::size_t size);

  std::string_view text_;  // what is left after next_
  SizeOfToken size_;
  int line_ = 1, column_ = 1;
  Token next_;
};

// Of a token that is one of the signs, or goes on up to a blank, a comment or a sign.
std::size_t size_of_word(std::string_view rest, std::string_view signs);

}  // namespace tcsim
