// What of a text that came from outside (names, descriptions, file names) may go where: terminals,
// CSV, HTML and SVG, comments of C, TOML, SQL, shells. Everything that prints or writes such text
// goes through here; JSON is core/io/json.hpp's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tcsim {

// Bytes of the input that a message quotes, at most.
inline constexpr std::size_t most_quoted = 300;

// For terminals, tables and errors: one line of UTF-8 in which no character acts on a terminal or
// changes the direction of the text. The others are shown: "\n", "\u001b"; "\xff" for a byte that
// is no UTF-8. (JSON reads the former as the character that was.)
std::string visible(std::string_view text);
// The same for text of several lines: '\n' and '\t' stay.
std::string visible_lines(std::string_view text);
// visible(text) == text, for names that are to be printed as they are.
bool is_visible(std::string_view text);

// A cell of CSV (RFC 4180): in quotes where it has a comma, a quote or a line break. A text that a
// spreadsheet would take for a formula, beginning with = + - @, gets a ' before it; a number does
// not. visible_lines() of the text.
std::string csv_cell(std::string_view text);
// The cells with commas between them and a line break at the end.
std::string csv_line(const std::vector<std::string>& cells);

// A number with as many digits as read back the same value.
std::string csv_number(double value);

// For a comment of C or C++, of either kind: nothing ends it or begins another one.
std::string in_comment(std::string_view text);

// Text or an attribute's value of HTML and of SVG: no mark begins or ends in it. visible_lines() of
// the text, since XML knows no other control characters.
std::string in_markup(std::string_view text);

// A basic string of TOML in its quotes. Of UTF-8 it reads back as it was; a byte that is none
// stands there as visible() shows it, since TOML has no form for it.
std::string toml_string(std::string_view text);

// A word for a shell, in quotes where it has to be; it is never a command, a pattern or a variable.
// Control characters, which the terminal that it is pasted into would take for keys, are written
// as in $'\n' (POSIX.1-2024; bash, ksh, zsh).
std::string shell_word(const std::string& word);
// Between single quotes of a shell's, those in it included.
std::string in_single_quotes(std::string_view text);

// A name of a column or a table of SQL, and a text, in quotes.
std::string quoted_sql(std::string_view name);
std::string sql_text(std::string_view text);

// For a message that quotes input: visible() of it, cut in its middle ("...") where it would be
// longer than a line.
std::string shortened(std::string_view text, std::size_t most = most_quoted);

// How text that is written in pieces becomes visible_lines(): a character may be cut between two.
class VisibleWriter {
 public:
  std::string operator()(std::string_view piece);
  std::string rest();  // of a character that was not completed

 private:
  std::string cut_;
};

}  // namespace tcsim
