// Values of a study's tables.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tcsim {

// One value of a row: text, a number, or nothing.
struct Cell {
  enum class Kind { nothing, text, real, integer } kind = Kind::nothing;
  std::string text;
  double real = 0;
  std::int64_t integer = 0;

  Cell() = default;
  Cell(std::string t) : kind(Kind::text), text(std::move(t)) {}
  Cell(double x);  // not a number: nothing
  Cell(std::int64_t n) : kind(Kind::integer), integer(n) {}

  std::string csv() const;  // numbers with all their digits; nothing is empty
  std::string json() const;
};

struct Column {
  std::string name;
  const char* type;  // SQLite's: "INTEGER", "REAL", "TEXT"
};
using Row = std::vector<Cell>;

}  // namespace tcsim
