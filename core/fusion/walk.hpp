// Walks a fused schedule tile by tile: what replays, runs and emits it sees the same tiles in the
// same order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "core/stop.hpp"

namespace tcsim::fusion {

// Of an index: which of its places are current.
struct Range {
  std::int64_t begin = 0, size = 1;
  bool operator==(const Range&) const = default;
};
using Ranges = std::vector<Range>;  // by index

inline Ranges all_of(const OperationTree& tree) {
  Ranges ranges;
  for (const OperationTree::Index& i : tree.indices) ranges.push_back({0, i.extent});
  return ranges;
}

// Calls visitor.open(hold, ranges), visitor.close(hold, ranges) around what is held, and
// visitor.run(statement, ranges). Heeds StopScope.
template <class Visitor>
void walk(const FusedNode& node, Ranges& ranges, Visitor& visitor) {
  if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
    Range& range = ranges[static_cast<std::size_t>(loop->index)];
    const Range whole = range;
    for (std::int64_t i = 0; i < whole.size; i += loop->tile) {
      StopScope::heed();
      range = {whole.begin + i, std::min(loop->tile, whole.size - i)};
      walk(*loop->body, ranges, visitor);
    }
    range = whole;
  } else if (const auto* parts = std::get_if<InOrder>(&node.is)) {
    for (const FusedNode& part : parts->parts) walk(part, ranges, visitor);
  } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
    visitor.open(*hold, ranges);
    walk(*hold->body, ranges, visitor);
    visitor.close(*hold, ranges);
  } else {
    visitor.run(std::get<Do>(node.is).statement, ranges);
  }
}

// The same, with the first tile of each loop alone, which is the largest.
template <class Visitor>
void walk_first_tiles(const FusedNode& node, Ranges& ranges, Visitor& visitor) {
  if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
    Range& range = ranges[static_cast<std::size_t>(loop->index)];
    const Range whole = range;
    range = {whole.begin, std::min(loop->tile, whole.size)};
    walk_first_tiles(*loop->body, ranges, visitor);
    range = whole;
  } else if (const auto* parts = std::get_if<InOrder>(&node.is)) {
    for (const FusedNode& part : parts->parts) walk_first_tiles(part, ranges, visitor);
  } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
    visitor.open(*hold, ranges);
    walk_first_tiles(*hold->body, ranges, visitor);
    visitor.close(*hold, ranges);
  } else {
    visitor.run(std::get<Do>(node.is).statement, ranges);
  }
}

// The current ranges of an array's axes.
inline std::vector<Range> ranges_of(const OperationTree& tree, int array, const Ranges& ranges) {
  std::vector<Range> of;
  for (int i : tree.array(array).indices) of.push_back(ranges[static_cast<std::size_t>(i)]);
  return of;
}

// Which tiles are read when they are opened: those that are loaded, and those that were stored
// before. Others begin as zeros.
class TilesRead {
 public:
  explicit TilesRead(const OperationTree& tree) : tree_(tree), stored_(tree.arrays.size()) {}

  // Asked once of each tile, in the order of walk().
  bool is_read(const Hold& hold, const Ranges& ranges) {
    if (hold.kind != Hold::Kind::store) return hold.kind == Hold::Kind::load;
    std::vector<std::int64_t> corner;
    for (const Range& r : ranges_of(tree_, hold.array, ranges)) corner.push_back(r.begin);
    return !stored_[static_cast<std::size_t>(hold.array)].insert(std::move(corner)).second;
  }

 private:
  const OperationTree& tree_;
  std::vector<std::set<std::vector<std::int64_t>>> stored_;  // corners of tiles, by array
};

}  // namespace tcsim::fusion
