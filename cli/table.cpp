#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/safe.hpp"

namespace tcsim::cli {

std::string aligned(const std::vector<std::string>& columns, const Rows& rows,
                    const std::string& indent) {
  std::vector<std::size_t> width(columns.size());
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < width.size(); ++i)
      width[i] = std::max(width[i], visible(row[i]).size());
  };
  widen(columns);
  for (const auto& row : rows) widen(row);
  std::string text;
  const auto line = [&](const std::vector<std::string>& row) {
    text += indent;
    for (std::size_t i = 0; i < row.size(); ++i)
      text += fmt::format("{:<{}}", visible(row[i]), width[i] + 2);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  line(columns);
  for (const auto& row : rows) line(row);
  return text;
}

}  // namespace tcsim::cli
