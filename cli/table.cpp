#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tcsim::cli {

std::string aligned(const std::vector<std::string>& columns, const Rows& rows,
                    const std::string& indent) {
  std::vector<std::size_t> width;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    width.push_back(columns[i].size());
    for (const auto& row : rows) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  const auto line = [&](const std::vector<std::string>& row) {
    text += indent;
    for (std::size_t i = 0; i < row.size(); ++i)
      text += fmt::format("{:<{}}", row[i], width[i] + 2);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  line(columns);
  for (const auto& row : rows) line(row);
  return text;
}

}  // namespace tcsim::cli
