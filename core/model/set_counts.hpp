// How the lines of a tensor's tile fall on the sets of a cache, counted from the real addresses.
// Tiles of a tensor that is not packed are rows scattered by its strides: rows may spread evenly or
// pile up on a few sets, and no random estimate tells which (docs/design.md, "From lines to hits").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/tile_lines.hpp"

namespace tcsim {

// share[c]: share of the sets that hold c lines of the tile. The last entry gathers all above.
struct SetCounts {
  std::vector<double> share;
  double lines = 0;         // of the tile counted
  int least = 0, most = 0;  // lines in any set
  double gathered = 0;      // lines per set of those that the last entry gathers
  // Lines in each set, of a tile at each of TileLines::beginnings(), in a cache of few sets.
  std::vector<std::vector<std::uint16_t>> by_set;
  std::vector<std::int64_t> beginnings;

  // Share of the tile's lines, times the mean lines in a set, that lie in sets of share[c].
  double held(std::size_t c) const {
    return c + 1 == share.size() ? gathered : static_cast<double>(c) * share[c];
  }
};

// Tiles of several tensors, at the same indices: where each begins, in elements from the first
// tensor, at several places of the tensors.
inline constexpr std::size_t tile_places = 8, most_placed = 4;
struct PlacedTile {
  const SetCounts* counts;
  double lines;  // that there are of those counted
  std::array<std::int64_t, tile_places> begin;
};

// Counts tiles of one contraction's tensors and remembers them.
class SetCounter {
 public:
  static constexpr double usual_lines = 524288;
  // Tiles of more than `max_lines` lines, which take a millisecond or more, are left to an
  // estimate.
  explicit SetCounter(double max_lines = usual_lines) : max_lines_(max_lines) {}

  // Up to `most` - 1 lines in a set are told apart. The tile's extents are rounded to whole
  // indices, at least 1. Returns nullptr if the tile has more than max_lines lines.
  const SetCounts* count(const TileLines& tensor, const Extents& tile, std::int64_t sets, int most);

  // How many lines tiles together put into a set, which no lines of one tile alone tell where
  // their places go together. Without a line of the tile `own` (-1: none is), in the set of which
  // the others are counted. At most most_placed tiles, which have by_set; `line` is in elements.
  SetCounts together(std::span<const PlacedTile> tiles, int own, std::int64_t sets, int most,
                     std::int64_t line);

 private:
  void add(SetCounts& counts, const TileLines& tensor, const TileLines::Places& places,
           std::int64_t first_element, std::int64_t sets, double tile_lines);

  double max_lines_;
  // Sets at which the number of lines changes, and by how much. Kept for their memory.
  std::vector<std::pair<std::int64_t, int>> changes_;
  std::vector<int> sum_;
  std::vector<std::int16_t> short_sum_;
  // The tensor's shape, the tile, sets and most.
  using Key = std::array<std::int64_t, 7>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = 0;
      for (std::int64_t x : key) h = (h ^ static_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15;
      return h ^ (h >> 32);
    }
  };
  std::unordered_map<Key, SetCounts, Hash> known_;
};

}  // namespace tcsim
