// A chain's tensors as files and tiles.
#pragma once

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/fusion/walk.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::chains {

using Extents = std::vector<std::int64_t>;

// FOLDER/NAME.h5
std::filesystem::path file_of(const std::filesystem::path& folder,
                              const fusion::OperationTree& tree, int array);

std::int64_t product(const Extents& extents);
Extents extents_of(const std::vector<fusion::Range>& ranges);

// Calls f with what `whole` has of each block, the last axis fastest; blocks lie one behind another
// from `origin` on.
template <class F>
void for_each_block(const std::vector<fusion::Range>& whole, const Extents& block,
                    const Extents& origin, F&& f) {
  std::vector<fusion::Range> at = whole;
  const auto cut = [&](std::size_t axis) {
    const std::int64_t before = (at[axis].begin - origin[axis]) / block[axis];
    const std::int64_t end = origin[axis] + (before + 1) * block[axis];
    at[axis].size = std::min(end, whole[axis].begin + whole[axis].size) - at[axis].begin;
  };
  for (std::size_t axis = 0; axis < at.size(); ++axis) cut(axis);
  for (;;) {
    f(std::as_const(at));
    std::size_t axis = at.size();
    for (; axis > 0; --axis) {
      fusion::Range& r = at[axis - 1];
      r.begin += r.size;
      const bool more = r.begin < whole[axis - 1].begin + whole[axis - 1].size;
      if (!more) r.begin = whole[axis - 1].begin;
      cut(axis - 1);
      if (more) break;
    }
    if (axis == 0) return;
  }
}

}  // namespace tcsim::chains
