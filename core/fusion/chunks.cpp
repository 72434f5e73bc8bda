#include "core/fusion/chunks.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "core/units/divisor.hpp"

namespace tcsim::fusion {

namespace {

using Extents = std::vector<std::int64_t>;

std::int64_t bytes_of(const Extents& chunk, Bytes element) {
  return std::accumulate(chunk.begin(), chunk.end(), element.value(), std::multiplies<>());
}

// What a chunk of a tile that is a part of its axis takes at least.
constexpr std::int64_t least_part = std::int64_t{16} << 10;

// The outermost axes, so that what is left of a tile lies together in it: a chunk of short rows
// costs a copy of each. Into parts that divide the tile, so that no chunk has a part of two, if
// they do not become small by that; else into parts of about one size, which reach least over the
// end of the axis.
void cut(Extents& chunk, const Extents& whole, Bytes element, std::int64_t most) {
  std::int64_t bytes = bytes_of(chunk, element);
  for (std::size_t axis = 0; axis < chunk.size() && bytes > most; ++axis) {
    std::int64_t& size = chunk[axis];
    const std::int64_t row = bytes / size;
    if (row >= most) {
      size = 1;
      bytes = row;
      continue;
    }
    const std::int64_t fitting = most / row;
    std::int64_t divisor = fitting;
    while (size % divisor != 0) --divisor;
    const std::int64_t least = size == whole[axis] ? least_common_chunk.value() : least_part;
    const bool small = 2 * divisor < fitting && divisor * row < least;
    size = small ? ceil_div(size, ceil_div(size, fitting)) : divisor;
    return;
  }
}

// A visitor of walk_first_tiles().
struct Files {
  const OperationTree& tree;
  std::map<std::string, FileUse> all;

  void open(const Hold& hold, const Ranges&) {
    if (hold.kind == Hold::Kind::buffer) return;
    const FileUse use{hold.array, false};
    FileUse& there = all.try_emplace(tree.array(hold.array).name, use).first->second;
    there.made |= hold.kind == Hold::Kind::store;
  }
  void close(const Hold&, const Ranges&) {}
  void run(int, const Ranges&) {}
};

}  // namespace

std::map<std::string, FileUse> files_of(const OperationTree& tree, const FusedNode& node) {
  Files files{tree, {}};
  Ranges ranges = all_of(tree);
  walk_first_tiles(node, ranges, files);
  return std::move(files.all);
}

Chunks::Chunks(const OperationTree& tree, const std::vector<const FusedNode*>& schedules)
    : tree_(tree) {
  for (const FusedNode* node : schedules) {
    Ranges ranges = all_of(tree);
    walk_first_tiles(*node, ranges, *this);
  }
}

void Chunks::open(const Hold& hold, const Ranges& ranges) {
  if (hold.kind == Hold::Kind::buffer) return;
  Extents tile;
  for (const Range& r : ranges_of(tree_, hold.array, ranges)) tile.push_back(r.size);
  const auto [there, is_new] = tiles_.emplace(tree_.array(hold.array).name, Tiles{tile, tile});
  auto& [smallest, common] = there->second;
  for (std::size_t axis = 0; axis < tile.size() && !is_new; ++axis) {
    smallest[axis] = std::min(smallest[axis], tile[axis]);
    common[axis] = std::gcd(common[axis], tile[axis]);
  }
}

std::vector<std::int64_t> Chunks::of(int a, Bytes most) const {
  const OperationTree::Array& array = tree_.array(a);
  const Extents whole = tree_.extents(a);
  const auto found = tiles_.find(array.name);
  Extents chunk = whole;
  if (found != tiles_.end()) {
    const auto& [smallest, common] = found->second;
    chunk = bytes_of(common, array.element) < least_common_chunk.value() ? smallest : common;
  }
  std::int64_t bytes = bytes_of(chunk, array.element);
  for (std::size_t axis = chunk.size(); axis > 0 && bytes < least_chunk.value(); --axis) {
    std::int64_t& size = chunk[axis - 1];
    const std::int64_t times =
        std::min((least_chunk.value() - 1) / bytes + 1, whole[axis - 1] / size);
    size *= times;
    bytes *= times;
  }
  cut(chunk, whole, array.element, std::max(most, array.element).value());
  return chunk;
}

}  // namespace tcsim::fusion
