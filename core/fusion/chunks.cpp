#include "core/fusion/chunks.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "core/units/divisor.hpp"

namespace tcsim::fusion {

namespace {

using Extents = std::vector<std::int64_t>;

std::int64_t bytes_of(const Extents& chunk, Bytes element) {
  return std::accumulate(chunk.begin(), chunk.end(), element.value(), std::multiplies<>());
}

// What is cut along an axis of which a tile has a part takes at least this, where it can.
constexpr Bytes least_cut{std::int64_t{256} << 10};
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
  const std::int64_t small = std::min(least_cut.value(), most / 2);
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

// Inner axes grow by whole tiles, as far as there are any, until a chunk is not too small.
void grow(Extents& chunk, const Extents& whole, Bytes element) {
  std::int64_t bytes = bytes_of(chunk, element);
  for (std::size_t axis = chunk.size(); axis > 0 && bytes < least_chunk.value(); --axis) {
    std::int64_t& size = chunk[axis - 1];
    const std::int64_t times =
        std::min((least_chunk.value() - 1) / bytes + 1, whole[axis - 1] / size);
    size *= times;
    bytes *= times;
  }
}

// The greatest size of which all tiles begin at a multiple.
std::int64_t common_step(const std::vector<Range>& tiles) {
  std::int64_t step = 0;
  for (const Range& tile : tiles) step = std::gcd(step, tile.begin);
  return step;
}

// Where combinations of sizes, times tiles that are counted for each, are more, the smallest tile
// alone is looked at.
constexpr double most_looks = 1e7;

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
    Tiles tiles;
    for (const Range& r : all_of(tree)) tiles.push_back({r});
    visit(*node, tiles);
  }
}

void Chunks::visit(const FusedNode& node, Tiles& tiles) {
  if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
    std::vector<Range>& of = tiles[static_cast<std::size_t>(loop->index)];
    std::vector<Range> inside;
    for (const Range& r : of) {
      for (std::int64_t i = 0; i < r.size; i += loop->tile) {
        inside.push_back({r.begin + i, std::min(loop->tile, r.size - i)});
      }
    }
    std::swap(of, inside);
    visit(*loop->body, tiles);
    std::swap(tiles[static_cast<std::size_t>(loop->index)], inside);
  } else if (const auto* parts = std::get_if<InOrder>(&node.is)) {
    for (const FusedNode& part : parts->parts) visit(part, tiles);
  } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
    if (hold->kind != Hold::Kind::buffer) {
      const OperationTree::Array& array = tree_.array(hold->array);
      Use use;
      for (int i : array.indices) use.tiles.push_back(tiles[static_cast<std::size_t>(i)]);
      double times = 1;
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        if (!contains(array.set(), static_cast<int>(i))) {
          times *= static_cast<double>(tiles[i].size());
        }
      }
      use.reads = hold->kind == Hold::Kind::load ? times : times - 1;
      use.writes = hold->kind == Hold::Kind::load ? 0 : times;
      uses_[array.name].push_back(std::move(use));
    }
    visit(*hold->body, tiles);
  }
}

// A chunk of which a tile has a part is moved whole; to write the part, it is read before.
double Chunks::cost(const std::vector<Use>& uses, const Extents& chunk,
                    const OperationTree::Array& array) const {
  double chunks = 0;
  for (const Use& use : uses) {
    double touched = 1, filled = 1;
    for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
      const std::int64_t size = chunk[axis];
      const std::int64_t extent = tree_.extent(array.indices[axis]);
      std::int64_t some = 0, all = 0;
      for (const Range& tile : use.tiles[axis]) {
        const std::int64_t end = tile.begin + tile.size;
        some += ceil_div(end, size) - tile.begin / size;
        all += std::max<std::int64_t>(
            0, (end == extent ? ceil_div(end, size) : end / size) - ceil_div(tile.begin, size));
      }
      touched *= static_cast<double>(some);
      filled *= static_cast<double>(all);
    }
    chunks += use.reads * touched + use.writes * (2 * touched - filled);
  }
  return chunks * static_cast<double>(bytes_of(chunk, array.element) + begin_of_chunk.value());
}

std::vector<std::int64_t> Chunks::of(int a, Bytes most) const {
  const OperationTree::Array& array = tree_.array(a);
  const Extents whole = tree_.extents(a);
  const std::int64_t limit = std::max(most, array.element).value();
  const auto fitted = [&](Extents chunk) {
    grow(chunk, whole, array.element);
    cut(chunk, whole, array.element, limit);
    return chunk;
  };
  const auto found = uses_.find(array.name);
  if (found == uses_.end()) return fitted(whole);
  // Along each axis: what is whole in all tiles, or in those of one use, and the smallest tile.
  const std::vector<Use>& uses = found->second;
  std::vector<std::set<std::int64_t>> sizes(whole.size());
  Extents smallest = whole;
  double looks = 0, candidates = 1;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    std::int64_t common = 0;
    for (const Use& use : uses) {
      const std::int64_t step = common_step(use.tiles[axis]);
      common = std::gcd(common, step);
      sizes[axis].insert(step == 0 ? whole[axis] : step);
      smallest[axis] = std::min(smallest[axis], use.tiles[axis].front().size);
      looks += static_cast<double>(use.tiles[axis].size());
    }
    sizes[axis].insert({smallest[axis], common == 0 ? whole[axis] : common});
    candidates *= static_cast<double>(sizes[axis].size());
  }
  Extents best = fitted(smallest);
  if (candidates * looks > most_looks) return best;
  std::set<Extents> seen{best};
  double least = cost(uses, best, array);
  Extents chunk;
  const auto try_all = [&](auto& self) -> void {
    if (chunk.size() < whole.size()) {
      for (std::int64_t size : sizes[chunk.size()]) {
        chunk.push_back(size);
        self(self);
        chunk.pop_back();
      }
      return;
    }
    const Extents one = fitted(chunk);
    if (!seen.insert(one).second) return;
    const double its = cost(uses, one, array);
    if (its >= least) return;
    least = its;
    best = one;
  };
  try_all(try_all);
  return best;
}

}  // namespace tcsim::fusion
