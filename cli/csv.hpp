// CSV as RFC 4180 has it: a cell with a comma, a quote or a line break stands in quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tcsim::cli {

std::string csv_cell(std::string_view text);

// With as many digits as read back the same value.
std::string csv_number(double value);

// The cells with commas between them and a line break at the end.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace tcsim::cli
