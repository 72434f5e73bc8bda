// Geometric programs over tile sizes, in logarithms: the least posynomial where others are at most
// one and tiles lie within one another. A primal-dual interior-point method (Boyd and Vandenberghe,
// "Convex Optimization", section 11.7), whose multipliers prove a bound at every step.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/optimize/posynomial.hpp"

namespace tcsim {

// Variables are logarithms, from 0 to `upper`, which is above 0.
struct PosynomialProgram {
  Posynomial objective;
  std::vector<Posynomial> at_most_one;
  std::vector<double> upper;
  std::vector<std::pair<int, int>> nested;  // the first is at most the second, of one upper limit
};

struct PosynomialOptimum {
  std::vector<double> y;
  double log_value = 0;  // there
  double log_bound = 0;  // nowhere is less; holds whatever fits_within did to the steps
};

// By how much, in logarithms, what should be at most one may be above it at the optimum: so that
// there is an interior where tiles of one fill the memory.
inline constexpr double posynomial_slack = 1e-4;

// Nothing where tiles of one are too large. Ends early where the bound is above `cut_off`.
std::optional<PosynomialOptimum> solve(const PosynomialProgram& program,
                                       double cut_off = std::numeric_limits<double>::infinity());

}  // namespace tcsim
