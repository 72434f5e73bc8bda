// A chain's tensors as files and tiles.
#pragma once

#include <filesystem>
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

// Calls f with the ranges of each block of an array, the last axis fastest.
template <class F>
void for_each_block(const Extents& extents, const Extents& block, F&& f) {
  std::vector<fusion::Range> at;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    at.push_back({0, std::min(block[axis], extents[axis])});
  }
  for (;;) {
    f(at);
    std::size_t axis = extents.size();
    for (; axis > 0; --axis) {
      fusion::Range& r = at[axis - 1];
      r.begin += block[axis - 1];
      if (r.begin >= extents[axis - 1]) r.begin = 0;
      r.size = std::min(block[axis - 1], extents[axis - 1] - r.begin);
      if (r.begin != 0) break;
    }
    if (axis == 0) return;
  }
}

}  // namespace tcsim::chains
