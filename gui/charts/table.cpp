#include "gui/charts/table.hpp"

#include <fmt/format.h>

#include "core/text/safe.hpp"

namespace tcsim::gui {

namespace {

template <class Text>
std::string written(const Table& table, const char* separator, Text text) {
  std::string all;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    all += (i == 0 ? "" : separator) + text(Cell(table.columns[i]));
  }
  all += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) all += (i == 0 ? "" : separator) + text(row[i]);
    all += "\n";
  }
  return all;
}

}  // namespace

std::string toCsv(const Table& table) {
  return written(table, ",", [](const Cell& c) {
    return c.value ? fmt::format("{}", *c.value) : csv_cell(c.text);
  });
}

std::string toTabs(const Table& table) {
  return written(table, "\t", [](const Cell& c) { return c.text; });
}

}  // namespace tcsim::gui
