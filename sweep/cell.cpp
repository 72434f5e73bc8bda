#include "sweep/cell.hpp"
#include "core/io/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text/safe.hpp"

namespace tcsim {

Cell::Cell(double x) : kind(std::isnan(x) ? Kind::nothing : Kind::real), real(x) {}

std::string Cell::csv() const {
  switch (kind) {
    case Kind::nothing:
      return "";
    case Kind::text:
      return csv_cell(text);
    case Kind::real:
      return csv_number(real);
    case Kind::integer:
      return fmt::format("{}", integer);
  }
  return "";
}

std::string Cell::json() const {
  if (kind == Kind::text) return json_line(text);
  if (kind == Kind::real && std::isinf(real)) return "null";
  return csv();
}

}  // namespace tcsim
