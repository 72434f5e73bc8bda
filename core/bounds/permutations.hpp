// Orders of the loops over tiles that are worth a look: Algorithm 1 of ioopt, section 4.3.
#pragma once

#include <cstdint>
#include <vector>

#include "core/bounds/nest.hpp"

namespace tcsim::bounds {

// By dimension, the arrays (bit i for the nest's i-th) that a loop over it, innermost, uses again.
using Reuse = std::vector<std::uint64_t>;

// The oracle. Those are the arrays that lack the dimension; and where it is small, those that have
// it in sums with a dimension that is not, since their tiles barely grow with it. `small` is by
// dimension.
Reuse reuse_of(const Nest& nest, const std::vector<bool>& small);

// The paper's choice where nobody says it: dimensions of at most a tenth of the longest one that
// they share an axis with.
std::vector<bool> small_dims(const Nest& nest);

// From the outermost loop to the innermost. Without reuse that is left, dimensions stand in their
// order. Sorted, each once; never empty, and
// the first 120 that the algorithm finds where there are more.
std::vector<std::vector<DimId>> permutations(const Reuse& reuse);

}  // namespace tcsim::bounds
