// Upper bounds: what a schedule moves that can be run. It is a tiled nest in a store that is
// addressed and holds so many elements; orders of loops are those of Algorithm 1, tile sizes are
// searched, and what counts are whole tiles (ioopt, section 4).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/bounds/cost.hpp"
#include "core/bounds/tile_sizes.hpp"

namespace tcsim::bounds {

struct UpperBound {
  // The nest that is tiled: dimensions that are always together are one of its own.
  FusedNest nest;
  Tiling tiling;
  NestCost cost;
  // The best that ioopt's expressions give with N / T tiles of a dimension. They may be below what
  // any schedule moves, and below `cost`.
  RealTiling real;
};

// Of a statement. Nothing where not even one multiply-add has its elements in the store together.
std::optional<UpperBound> upper_bound(const Nest& nest, double capacity);

// Of stores behind one another, the smallest first, and one schedule for all of them: each store's
// tiles lie within a tile of the one behind it. An entry's cost is what moves into its store in
// all, partial tiles of outer stores counted as whole ones. What is minimised is the sum of what
// moves, each relative to what that store moves alone. Nothing as above.
std::optional<std::vector<UpperBound>> upper_bounds(const Nest& nest,
                                                    std::span<const double> capacities);

}  // namespace tcsim::bounds
