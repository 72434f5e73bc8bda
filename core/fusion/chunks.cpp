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
// Of a chunk, what lies together in its tile: shorter runs cost a copy each.
constexpr std::int64_t least_run = std::int64_t{4} << 10;

std::int64_t largest_divisor(std::int64_t size, std::int64_t most) {
  std::int64_t divisor = std::min(size, most);
  while (size % divisor != 0) --divisor;
  return divisor;
}
// Of about one size, so that they reach least over the end.
std::int64_t even_part(std::int64_t size, std::int64_t most) {
  return ceil_div(size, ceil_div(size, most));
}

// Axes of which single rows are enough become 1, the outermost first. Then one axis is cut: where a
// tile has all of it, into parts of about one size; else into parts that divide the tile, so that
// no chunk has a part of two. It is the outermost one for which chunks are large, or at least not
// small, and what lies together in the tile is not short. Where there is none, the outermost, into
// parts that divide the tile unless those are tiny.
void cut(Extents& chunk, const Extents& whole, Bytes element, std::int64_t most) {
  std::int64_t bytes = bytes_of(chunk, element), row = bytes;
  std::size_t first = 0;
  for (; first < chunk.size() && bytes > most; ++first) {
    row /= chunk[first];
    if (row < most) break;
    chunk[first] = 1;
    bytes = row;
  }
  if (bytes <= most) return;
  const std::int64_t small = std::min(least_common_chunk.value(), most / 2);
  for (std::int64_t least = most / 2; least >= small; least /= 2) {
    std::int64_t run = row;
    for (std::size_t axis = first; axis < chunk.size(); ++axis) {
      std::int64_t& size = chunk[axis];
      if (axis > first) run /= size;
      const std::int64_t others = bytes / size;
      if (others > most) continue;
      const std::int64_t part = size == whole[axis] ? even_part(size, most / others)
                                                    : largest_divisor(size, most / others);
      if (part * others < least || part * run < least_run) continue;
      size = part;
      return;
    }
  }
  std::int64_t& size = chunk[first];
  const std::int64_t fitting = most / row, divisor = largest_divisor(size, fitting);
  const bool tiny = 2 * divisor < fitting && divisor * row < least_part;
  size = size == whole[first] || tiny ? even_part(size, fitting) : divisor;
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
