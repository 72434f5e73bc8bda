// How many elements of an array all runs of a statement touch.
#pragma once

#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

// At least so many, and exactly so many where no index sums more than two dimensions and no
// dimension is in two indices that also have others.
Expression touched(const Problem& problem, const Problem::Access& access);

// How many different values the sum takes: a i + b j has m n - (m - b/g)+ (n - a/g)+ for i below m
// and j below n, g = gcd(a, b). Of three or more dimensions at least so many.
Expression different_values(const Problem& problem, const std::vector<Affine::Term>& terms);

}  // namespace tcsim::bounds
