// What of a text that came from outside (names, descriptions, file names) may go where. Everything
// that prints or writes such text goes through here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tcsim {

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

// How text that is written in pieces becomes visible_lines(): a character may be cut between two.
class VisibleWriter {
 public:
  std::string operator()(std::string_view piece);
  std::string rest();  // of a character that was not completed

 private:
  std::string cut_;
};

}  // namespace tcsim
