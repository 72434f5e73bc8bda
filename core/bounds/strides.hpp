// Indices with a stride, as s x + h of an image: told apart by what the stride leaves.
//
// h is s q + r with r below s, so s x + h is s (x + q) + r, and the element is that of (x + q, r).
// Over (x, q, r) the conditions on exponents are those of a convolution without stride over q, and
// r is a dimension like the channels. Of h two runs that differ in r share no element; over the
// rationals (x, h) does not know that. With strides of all of the filter (s at least the extent of
// h) q has one place, and nothing is left of the overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

struct SplitStrides {
  struct Part {
    DimId of;              // h, in the problem that was given and in `problem`
    DimId quotient, rest;  // in `problem`
    std::int64_t stride;
  };
  // The one statement, with dimensions more. Their box holds the runs: it may have some more.
  Problem problem;
  std::vector<Part> parts;

  const Problem::Statement& statement() const { return problem.statements[0]; }
};

// Nothing where there is nothing to tell apart: no index of two dimensions whose coefficient is
// several times the other's, which is an index alone elsewhere.
std::optional<SplitStrides> split_strides(const Problem& problem,
                                          const Problem::Statement& statement);

// With the extents of the parts: of q at most (N_h + s - 1) / s, of r at most s.
Expression with_extents(Expression e, const SplitStrides& split);
// The same where N_h is known: ceil(N_h / s), and N_h where that is below s.
Values with_extents(Values sizes, const SplitStrides& split);

}  // namespace tcsim::bounds
