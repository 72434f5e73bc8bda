#include "core/schedule/result_regions.hpp"

#include <algorithm>

#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Of a region. Source: measured on an Intel Xeon with 2 MiB of second cache, 13 drawn contractions:
// 24 KiB 1.11 times as fast as without, 128 KiB 1.24, 512 KiB 1.23.
constexpr Bytes most_bytes{128 << 10};
// Neighbours in C from which on they are moved together. Source: chosen.
constexpr std::int64_t least_neighbours = 4;
// Source: x86-64.
constexpr Bytes bytes_of_line{64};

std::int64_t elements_of(const ByGroup<std::int64_t>& sizes, ElementType type) {
  return buffer_column(sizes[DimClass::m], type) * sizes[DimClass::n] * sizes[DimClass::batch];
}

bool fits(std::int64_t elements, ElementType type) {
  return elements * size_of(type) <= most_bytes;
}

// Of rows in this order: how many are between neighbours in C, and how many neighbours there are.
// None where C's stride-one dimension is not among them.
struct Neighbours {
  std::int64_t period = 0, behind = 0;
};
Neighbours neighbours_among(const Contraction& c, const Group& rows) {
  std::int64_t inner = 1;
  for (DimId d : rows) {
    const std::int64_t extent = c.dim(d).extent;
    if (extent > 1 && c.stride(TensorId::C, d) == Elements(1)) return {inner, extent};
    inner *= extent;
  }
  return {};
}

}  // namespace

bool too_far_apart(const Contraction& c, const Group& rows) {
  const Neighbours n = neighbours_among(c, rows);
  return n.behind >= least_neighbours &&
         !fits(buffer_column(n.period * least_neighbours, c.type()), c.type());
}

std::int64_t buffer_column(std::int64_t rows, ElementType type) {
  const std::int64_t in_line = bytes_of_line / size_of(type);
  return (ceil_div(rows, in_line) | 1) * in_line;
}

std::int64_t ResultRegions::most_results(ElementType type) const {
  const std::int64_t largest = elements_of(sizes, type);
  return within_blocks ? std::max(largest, most_bytes / size_of(type)) : largest;
}

RegionOfBlock region_of_block(std::int64_t rows, std::int64_t columns, std::int64_t row_tile,
                              std::int64_t column_tile, bool rows_inside, ElementType type) {
  const std::int64_t most = most_bytes / size_of(type);
  // So many columns, or rows of so many columns, fit: one tile at least.
  const auto columns_of = [&](std::int64_t m) {
    const std::int64_t tile = buffer_column(m, type) * column_tile;
    return std::max<std::int64_t>(1, most / tile) * column_tile;
  };
  const auto rows_of = [&](std::int64_t n) {
    std::int64_t m =
        std::max<std::int64_t>(1, most / (buffer_column(row_tile, type) * n)) * row_tile;
    // Of several tiles together a column may take a line more.
    while (m > row_tile && buffer_column(m, type) * n > most) m -= row_tile;
    return m;
  };
  if (rows_inside) {
    const bool all = buffer_column(rows, type) * column_tile <= most;
    return all ? RegionOfBlock{rows, columns_of(rows)}
               : RegionOfBlock{rows_of(column_tile), column_tile};
  }
  const bool all = buffer_column(row_tile, type) * columns <= most;
  return all ? RegionOfBlock{rows_of(columns), columns}
             : RegionOfBlock{row_tile, columns_of(row_tile)};
}

ResultRegions result_regions(const Contraction& c, const Groups& groups, const Path& path,
                             std::int64_t lanes) {
  ResultRegions regions;
  if (path.along_k || path.lanes) return regions;
  const std::int64_t together = neighbours_in(c, {TensorId::C}, groups[DimClass::m]);
  if (together >= std::min(lanes, path.mr)) return regions;

  using Direction = ResultRegions::Direction;
  Direction direction = Direction::none;
  if (neighbours_in(c, {TensorId::C}, groups[DimClass::n]) >= least_neighbours) {
    direction = Direction::columns;
  } else if (neighbours_in(c, {TensorId::C}, groups[DimClass::batch]) >= least_neighbours) {
    direction = Direction::places;
  } else {
    const Neighbours among = neighbours_among(c, groups[DimClass::m]);
    regions.period = among.period;
    regions.behind = among.behind;
    if (regions.period < least_neighbours || regions.behind < least_neighbours) return {};
    direction = Direction::rows;
  }

  const ElementType type = c.type();
  const std::size_t blocks = block_depth(path);
  ByGroup<std::int64_t>& sizes = regions.sizes;
  sizes = path.extents;
  while (regions.depth < blocks && !fits(elements_of(sizes, type), type)) {
    const Step& s = path.steps[regions.depth++];
    if (s.kind == Step::Kind::loop) sizes[s.group] = std::min(sizes[s.group], s.largest_tile());
  }
  regions.within_blocks = !fits(elements_of(sizes, type), type);
  if (regions.within_blocks) {
    // Blocks are of one place of the batch.
    ByGroup<std::int64_t> tiles = sizes;
    bool rows_inside = true;
    for (std::size_t d = blocks; path.steps[d].kind == Step::Kind::loop; ++d) {
      const Step& s = path.steps[d];
      tiles[s.group] = std::min(tiles[s.group], s.largest_tile());
      rows_inside = s.group == DimClass::m;
    }
    const RegionOfBlock region =
        region_of_block(sizes[DimClass::m], sizes[DimClass::n], tiles[DimClass::m],
                        tiles[DimClass::n], rows_inside, type);
    sizes[DimClass::m] = std::min(sizes[DimClass::m], region.rows);
    sizes[DimClass::n] = std::min(sizes[DimClass::n], region.columns);
  }
  const std::int64_t neighbours = direction == Direction::columns ? sizes[DimClass::n]
                                  : direction == Direction::places
                                      ? sizes[DimClass::batch]
                                      : sizes[DimClass::m] / regions.period;
  if (neighbours < least_neighbours) return {};
  regions.direction = direction;
  return regions;
}

}  // namespace tcsim
