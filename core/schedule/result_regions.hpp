// Where a path's results do not go to C one by one. A kernel's vectors run along rows; where rows
// are not neighbours in C, each result would lie in a line of its own. So the executor forms a
// region of C, as large as stays in the second cache, in a buffer in which rows are neighbours, and
// then transposes it to C (kernels/result_buffer.hpp). This says whether it does, and what the
// regions are: the optimizer asks as well, since it takes less time than single results.
#pragma once

#include <cstdint>

#include "core/schedule/path.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct ResultRegions {
  // In which neighbours in C lie: columns, places of the batch, or rows further on.
  enum class Direction { none, columns, places, rows };
  Direction direction = Direction::none;
  // Of rows: neighbours in C are `period` rows apart, and `behind` of them one behind the other.
  std::int64_t period = 0, behind = 0;
  // Regions are what is inside so many steps of the path; or, where that is too large, pieces of
  // the kernel blocks, which are inside them.
  std::size_t depth = 0;
  bool within_blocks = false;
  ByGroup<std::int64_t> sizes{1, 1, 1, 1};  // of a region, at most

  bool used() const { return direction != Direction::none; }
  // Elements of the buffer.
  std::int64_t most_results(ElementType type) const;
};

// For kernels whose vectors have so many lanes. None unless
//  - no vector's worth of rows is together in C, and vectors run along rows of one multiplication;
//  - regions have four neighbours in C, or more, in another direction.
ResultRegions result_regions(const Contraction& contraction, const Groups& groups, const Path& path,
                             std::int64_t lanes);

// Whether, with rows in this order, there are four neighbours in C among them, but so far apart
// that no region holds them.
bool too_far_apart(const Contraction& contraction, const Group& rows);

// How many elements a column of the buffer takes: whole lines, an odd number of them, so that
// columns share few sets of the first cache.
std::int64_t buffer_column(std::int64_t rows, ElementType type);

// The rows and columns of a block's pieces, each whole tiles of `row_tile` and `column_tile`.
struct RegionOfBlock {
  std::int64_t rows, columns;
};
RegionOfBlock region_of_block(std::int64_t rows, std::int64_t columns, std::int64_t row_tile,
                              std::int64_t column_tile, bool rows_inside, ElementType type);

}  // namespace tcsim
