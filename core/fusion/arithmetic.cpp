#include "core/fusion/arithmetic.hpp"

#include "core/optimize/optimize.hpp"
#include "core/stop.hpp"

namespace tcsim::fusion {

namespace {

void find_tiles(const OperationTree& tree, const FusedNode& node, std::vector<std::int64_t>& ranges,
                std::vector<std::vector<std::int64_t>>& tiles) {
  if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
    std::int64_t& range = ranges[static_cast<std::size_t>(loop->index)];
    const std::int64_t whole = range;
    range = loop->tile;
    find_tiles(tree, *loop->body, ranges, tiles);
    range = whole;
  } else if (const auto* parts = std::get_if<InOrder>(&node.is)) {
    for (const FusedNode& part : parts->parts) find_tiles(tree, part, ranges, tiles);
  } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
    find_tiles(tree, *hold->body, ranges, tiles);
  } else {
    const int s = std::get<Do>(node.is).statement;
    for (int i : tree.statement(s).indices) {
      tiles[static_cast<std::size_t>(s)].push_back(ranges[static_cast<std::size_t>(i)]);
    }
  }
}

}  // namespace

std::vector<std::vector<std::int64_t>> tiles_of(const OperationTree& tree, const FusedNode& node) {
  std::vector<std::int64_t> ranges;
  for (const OperationTree::Index& i : tree.indices) ranges.push_back(i.extent);
  std::vector<std::vector<std::int64_t>> tiles(tree.statements.size());
  find_tiles(tree, node, ranges, tiles);
  return tiles;
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
