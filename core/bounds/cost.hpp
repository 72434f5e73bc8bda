// What a tiled nest moves into a store that is addressed (ioopt, sections 4.1 and 4.2). The loops
// over tiles run in some order; a tile runs once everything that it uses is in the store, so the
// order within it does not matter.
//
// The store is divided between the arrays. An array with level l keeps what the loops inside the
// l-th use (counted from the innermost tile loop), from one iteration of the l-th loop to the next:
// what the two share stays, the rest is brought. With l = 1 that is a tile's footprint, with one
// more than there are loops the whole array, which is then brought once.
//
// Counts are of whole tiles, with the smaller ones at the end of each dimension. So they are what
// such a program really moves, where ioopt's expressions have N / T tiles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/bounds/nest.hpp"

namespace tcsim::bounds {

struct Tiling {
  std::vector<DimId> permutation;   // of all dimensions, the outermost loop over tiles first
  std::vector<std::int64_t> tiles;  // by dimension: 1 to its extent
  bool operator==(const Tiling&) const = default;
};

// Of one array.
struct ArrayCost {
  int level = 1;     // its reuse level, as above
  double held = 0;   // elements of the store
  double moved = 0;  // elements brought, without the array's weight
  bool operator==(const ArrayCost&) const = default;
};

struct NestCost {
  double moved = 0;  // all, each array with its weight, less zeros that need not be brought
  double held = 0;
  std::vector<ArrayCost> arrays;
  bool operator==(const NestCost&) const = default;
};

// An array's cost at each level, 1 first. Numbers are whole, and exact below 2^53.
std::vector<ArrayCost> costs_by_level(const Nest& nest, const Nest::Array& array,
                                      const Tiling& tiling);

// With the levels that move least and fit together; nothing where even the tiles do not fit.
std::optional<NestCost> cost_of(const Nest& nest, const Tiling& tiling, double capacity);

}  // namespace tcsim::bounds
