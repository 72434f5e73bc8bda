// What consecutive tiles of a tensor share, where tiles overlap: the halo of a convolution's image.
//
// A loop runs over tiles of a group. Of a tile's lines some were touched by the tile before, others
// by the one that many steps before which is its neighbour along another dimension of the group:
// with m = (x, y) and tiles of half a row, the row above comes back two steps later. D(j) being the
// lines of j consecutive tiles together, F(j) = D(j + 1) - D(j) of the next tile's lines are in
// none of the last j, and F(j - 1) - F(j) were touched j tiles ago last. D bends where a dimension
// of the group comes to its next index, so it is asked for there alone.
#pragma once

#include <vector>

#include "core/model/tile_lines.hpp"

namespace tcsim {

struct SharedLines {
  double steps;  // tiles since the last touch, at least 1
  double share;  // of all touches of lines that an earlier tile touched
};

// Of tiles like `tile` along `group`, which has `extent` indices. Shares are above 0 and add up
// to 1.
std::vector<SharedLines> shared_lines(const TileLines& tensor, const Extents& tile, DimClass group,
                                      double extent);

}  // namespace tcsim
