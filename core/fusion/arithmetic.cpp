#include "core/fusion/arithmetic.hpp"

#include <utility>

#include "core/fusion/walk.hpp"
#include "core/optimize/optimize.hpp"
#include "core/stop.hpp"

namespace tcsim::fusion {

namespace {

struct LargestTiles {
  const OperationTree& tree;
  std::vector<std::vector<std::int64_t>> of;  // by statement

  void open(const Hold&, const Ranges&) {}
  void close(const Hold&, const Ranges&) {}
  void run(int s, const Ranges& ranges) {
    for (int i : tree.statement(s).indices) {
      of[static_cast<std::size_t>(s)].push_back(ranges[static_cast<std::size_t>(i)].size);
    }
  }
};

}  // namespace

std::vector<std::vector<std::int64_t>> tiles_of(const OperationTree& tree, const FusedNode& node) {
  Ranges ranges = all_of(tree);
  LargestTiles tiles{tree, {}};
  tiles.of.resize(tree.statements.size());
  walk_first_tiles(node, ranges, tiles);
  return std::move(tiles.of);
}

std::vector<Seconds> arithmetic(const OperationTree& tree, const FusedNode& node,
                                const Machine& machine) {
  const std::vector<std::vector<std::int64_t>> tiles = tiles_of(tree, node);
  std::vector<Seconds> seconds;
  for (std::size_t s = 0; s < tiles.size(); ++s) {
    StopScope::heed();
    const Contraction tile = contraction_of(tree, static_cast<int>(s), tiles[s]);
    const double rate = optimize(tile, machine).prediction.rate.value();
    seconds.emplace_back(tree.flops(static_cast<int>(s)) / rate);
  }
  return seconds;
}

}  // namespace tcsim::fusion
