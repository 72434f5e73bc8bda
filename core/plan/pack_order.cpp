#include "core/plan/pack_order.hpp"

#include "core/plan/arrays.hpp"

namespace tcsim {

namespace {

// Of the tile in which place i is. It is often the first one, and divisions take long.
std::int64_t beginning(std::int64_t i, std::int64_t tile) { return i < tile ? 0 : i / tile * tile; }

}  // namespace

std::int64_t PackPlan::offset(const Tile& tile, std::int64_t row, std::int64_t k) const {
  std::int64_t row_range = tile[rows].size, k_range = tile[DimClass::k].size;
  std::int64_t at = place_of(tile);
  for (const LayoutLoop& loop : layout) {
    std::int64_t& i = loop.over_rows ? row : k;
    std::int64_t& range = loop.over_rows ? row_range : k_range;
    const std::int64_t start = beginning(i, loop.tile);
    at += start * (loop.over_rows ? k_range : round_up(row_range, panel));
    i -= start;
    range = std::min(loop.tile, range - start);
  }
  return at + beginning(row, panel) * k_range + k * panel;
}

// Tiles need not divide each other, so it takes every loop to find the innermost one.
std::int64_t PackPlan::columns_left(const Tile& tile, std::int64_t k) const {
  std::int64_t range = tile[DimClass::k].size;
  for (const LayoutLoop& loop : layout) {
    if (loop.over_rows) continue;
    const std::int64_t start = beginning(k, loop.tile);
    range = std::min(loop.tile, range - start);
    k -= start;
  }
  return range - k;
}

}  // namespace tcsim
