// What the parsers of programs and of affine programs share: the words, numbers and signs of a text
// of statements, read one after the other, and the errors that name their line and column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/lexer.hpp"

namespace tcsim {

class StatementReader {
 protected:
  // `place` is the text's in messages, a file's path or an option; it outlives the reader.
  StatementReader(std::string_view text, Lexer::SizeOfToken size, const std::string& place)
      : lexer_(text, size), place_(place) {}

  // All throw InputError with the token's place.
  [[noreturn]] void fail(const Token& token, const std::string& problem,
                         std::string_view mend) const;
  [[noreturn]] void fail_expected(const Token& token, std::string_view wanted,
                                  std::string_view mend) const;

  bool at_end() const { return lexer_.next().text.empty(); }
  bool at(std::string_view text) const { return lexer_.next().text == text; }
  bool at_number() const;

  // Each takes the next token, or fails where that is another one. Numbers end at 2^62 - 1.
  Token expect(std::string_view text, std::string_view mend);
  Token identifier(std::string_view wanted, std::string_view mend);
  std::int64_t number(std::string_view wanted, std::int64_t least, std::string_view mend);

  // So that no text of repeated parts takes the memory: fails where there are Program::most parts.
  template <class T>
  void make_room(const std::vector<T>& parts, std::string_view what) const {
    make_room(parts.size(), what);
  }

  Lexer lexer_;
  const std::string& place_;

 private:
  void make_room(std::size_t parts, std::string_view what) const;
};

// Of words, which names and numbers are; what is not ASCII is kept together for the message.
bool in_word(char c);

// Of a word or a sign, of which "+=" is one: what a reader's tokens are unless it has others too.
std::size_t size_of_word_or_sign(std::string_view rest);

}  // namespace tcsim
