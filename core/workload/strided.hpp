// Tensors that lie in memory as somebody else's arrays do: slices, transposed views, padded rows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/workload/contraction.hpp"

namespace tcsim {

// Of each axis in written order: its elements, and the distance of neighbours in elements.
struct Strided {
  std::vector<std::int64_t> extents, strides;
  bool operator==(const Strided&) const = default;
};

// The contraction with A, B and C where they lie. Each axis must step over whole rows of the one
// inside it; A and B may leave elements out along their innermost axis, C not. Throws UsageError,
// with `mend` as what to do, for axes that run backward, repeat elements or lie otherwise, and for
// extents that are not the tensor's.
Contraction strided(const Contraction& contraction, const std::array<Strided, 3>& where,
                    const std::string& mend = "copy it into a dense array");

}  // namespace tcsim
