// Tile sizes that move least for given orders of loops: ioopt's TileOpt (section 4.4), by NLopt.
// First real ones, with N / T tiles of a dimension, from a problem that is smooth in log T; then
// whole ones near them by the exact count.
//
// Stores may stand behind one another, each with its band of loops over tiles: a band's loops run
// within a tile of the next one, the outermost band's over the whole nest.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/bounds/cost.hpp"

namespace tcsim::bounds {

// The loops over one store's tiles.
struct Band {
  std::vector<DimId> permutation;  // as of a Tiling
  std::vector<int> levels;         // reuse level by array (core/bounds/cost.hpp)
  double capacity = 0;             // elements
  double weight = 1;               // of what moves into the store, in the sum that is minimised
};

// ioopt's expressions: what moves into a band's store with N / T tiles.
struct RealTiling {
  std::vector<DimId> permutation;
  std::vector<int> levels;
  std::vector<double> tiles;  // by dimension
  double moved = 0;           // as a NestCost has it
  double held = 0;
};

// The expressions at these tiles of one band.
RealTiling real_cost(const Nest& nest, const std::vector<DimId>& permutation,
                     const std::vector<int>& levels, const std::vector<double>& tiles);

// Reuse levels that are worth a look for an array: the first loop from inside that it has, the next
// one, and all of the array.
std::vector<int> useful_levels(const Nest::Array& array, const std::vector<DimId>& permutation);

// An entry for each band, the innermost first. Nothing where even tiles of one iteration do not
// fit.
std::optional<std::vector<RealTiling>> best_real_tiles(const Nest& nest,
                                                       std::span<const Band> bands);

// Exact counts; those of inner bands take partial tiles of outer ones for whole ones.
struct WholeTiling {
  std::vector<Tiling> tilings;  // by band
  std::vector<NestCost> costs;
  double weighted = 0;  // sum of what moves, each with its band's weight
};

// From whole tiles near these, by steps that move less, until none does. The bands' reuse levels
// are not looked at: each count has its best ones. `fixed`, where it is not empty, says which
// dimensions' tiles stay as they are. Nothing where tiles of one iteration do not fit.
std::optional<WholeTiling> best_whole_tiles(const Nest& nest, std::span<const Band> bands,
                                            const std::vector<RealTiling>& near,
                                            const std::vector<bool>& fixed = {});

}  // namespace tcsim::bounds
