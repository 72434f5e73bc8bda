// The family of schedules that is searched for a chain inside caches: which statements are fused,
// in which loops, by which tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fusion/cached.hpp"
#include "core/fusion/subtrees.hpp"

namespace tcsim::fusion {

// Loops around parts that run one after another. An intermediate is held inside the loops of the
// innermost node that has both its statements.
struct TiledTree {
  struct Loop {
    int index = 0;
    std::int64_t tile = 1;  // none, where it is no less than the range
    bool operator==(const Loop&) const = default;
  };
  std::vector<Loop> loops;       // outermost first
  std::vector<TiledTree> parts;  // none of a leaf
  int statement = -1;            // of a leaf

  bool operator==(const TiledTree&) const = default;
};

FusedNode to_node(const OperationTree& tree, const TiledTree& tiled);

// All ways to cut the chain into fused subtrees (core/fusion/subtrees.hpp), with the maximally
// fused structures of each, whose loops have the whole range for a tile; at most `most`. The first
// one has nothing fused.
std::vector<TiledTree> cached_structures(const OperationTree& tree, std::size_t most = 64);

}  // namespace tcsim::fusion
