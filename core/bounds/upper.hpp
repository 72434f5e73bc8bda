// Upper bounds: what a schedule moves that can be run. It is a tiled nest in a store that is
// addressed and holds so many elements; orders of loops are those of Algorithm 1, tile sizes are
// searched, and what counts are whole tiles (ioopt, section 4).
#pragma once

#include <optional>
#include <span>
#include <string>
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

// The nest that is tiled. Throws UsageError where dimensions that are one have 2^62 places or more.
FusedNest tiled_nest(const Nest& nest);

// Of a statement. Nothing where not even one multiply-add has its elements in the store together.
// Throws as tiled_nest().
std::optional<UpperBound> upper_bound(const Nest& nest, double capacity);

// Of a problem: its statements one after the other, each with an empty store at first.
struct ProblemUpperBound {
  std::vector<UpperBound> statements;
  double moved = 0;  // in all
};
// Nothing as above. Throws UsageError for an extent that is not known.
std::optional<ProblemUpperBound> upper_bound(const Problem& problem, Moves moves, double capacity);

// "i k*l j": the order of a bound's loops, the outermost first. Dimensions that are one for it have
// a * between them, the fastest first. `names` are those of the nest that was given.
std::string permutation_text(const UpperBound& bound, const std::vector<std::string>& names);
// "i=31 k*l=1 j=30": its tiles in the same order.
std::string tiles_text(const UpperBound& bound, const std::vector<std::string>& names);

// Of stores behind one another, the smallest first, and one schedule for all of them: each store's
// tiles lie within a tile of the one behind it. An entry's cost is what moves into its store in
// all, partial tiles of outer stores counted as whole ones. What is minimised is the sum of what
// moves, each times its weight, or without weights relative to what that store moves alone. Nothing
// as above.
std::optional<std::vector<UpperBound>> upper_bounds(const Nest& nest,
                                                    std::span<const double> capacities,
                                                    std::span<const double> weights = {});

}  // namespace tcsim::bounds
