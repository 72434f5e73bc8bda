#include "core/workload/statement_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/workload/program.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t most_number = (std::int64_t{1} << 62) - 1;

}  // namespace

void StatementReader::fail(const Token& token, const std::string& problem,
                           std::string_view mend) const {
  throw InputError(fmt::format("{}:{}:{}", place_, token.line, token.column), problem,
                   std::string(mend));
}

void StatementReader::fail_expected(const Token& token, std::string_view wanted,
                                    std::string_view mend) const {
  // A long run of bytes is noise in a message.
  constexpr std::size_t longest = 32;
  std::string found = "the end";
  if (!token.text.empty()) found = fmt::format("'{}'", token.text.substr(0, longest));
  if (token.text.size() > longest) found += "...";
  fail(token, fmt::format("{} expected, found {}", wanted, found), mend);
}

bool StatementReader::at_number() const {
  return !at_end() && lexer_.next().text[0] >= '0' && lexer_.next().text[0] <= '9';
}

Token StatementReader::expect(std::string_view text, std::string_view mend) {
  if (!at(text)) fail_expected(lexer_.next(), fmt::format("'{}'", text), mend);
  return lexer_.take();
}

Token StatementReader::identifier(std::string_view wanted, std::string_view mend) {
  if (!is_identifier(lexer_.next().text)) fail_expected(lexer_.next(), wanted, mend);
  return lexer_.take();
}

std::int64_t StatementReader::number(std::string_view wanted, std::int64_t least,
                                     std::string_view mend) {
  const Token token = lexer_.take();
  std::int64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) fail_expected(token, wanted, mend);
  if (error != std::errc() || value < least || value > most_number) {
    fail(token, fmt::format("{} is not between {} and 2^62 - 1", token.text.substr(0, 32), least),
         mend);
  }
  return value;
}

void StatementReader::make_room(std::size_t parts, std::string_view what) const {
  if (parts < Program::most) return;
  fail(lexer_.next(), fmt::format("there are more than {} {}", Program::most, what),
       "take some out");
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

std::size_t size_of_word_or_sign(std::string_view rest) {
  if (rest.empty()) return 0;
  if (rest.starts_with("+=")) return 2;
  std::size_t size = 0;
  while (size < rest.size() && in_word(rest[size])) ++size;
  return std::max(size, std::size_t{1});
}

}  // namespace tcsim
