// Small linear programs in exact numbers, for the exponents of bounds.
#pragma once

#include <optional>
#include <vector>

#include "core/bounds/expression.hpp"

namespace tcsim::bounds {

// Finds the x >= 0 with the least cost x costs and a x >= b for each row.
struct LinearProgram {
  struct Row {
    std::vector<Rational> a;
    Rational b;
  };
  std::vector<Rational> costs;  // at least 0
  std::vector<Row> rows;        // each with as many a as there are costs
};

// A vertex; nothing where no x is feasible. The dual simplex method, which begins with x = 0 and
// has no second phase, with Bland's rule, which ends always and gives the same vertex on every run.
std::optional<std::vector<Rational>> solve(const LinearProgram& program);

}  // namespace tcsim::bounds
