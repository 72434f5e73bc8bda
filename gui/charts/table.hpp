// The numbers behind a chart, for readers, screen readers and spreadsheets.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tcsim::gui {

struct Cell {
  Cell() = default;
  Cell(std::string t) : text(std::move(t)) {}  // NOLINT(google-explicit-constructor)
  Cell(const char* t) : text(t) {}             // NOLINT(google-explicit-constructor)
  Cell(std::string t, double v) : text(std::move(t)), value(v) {}

  std::string text;             // as people read it
  std::optional<double> value;  // of a number: all its digits
};

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

// With a header line. Numbers have all their digits, in the unit that the column names.
std::string toCsv(const Table& table);
// For a clipboard: as people read them, with tabs between.
std::string toTabs(const Table& table);

}  // namespace tcsim::gui
