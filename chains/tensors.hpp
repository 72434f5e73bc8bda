// A chain's tensors as files and tiles.
#pragma once

#include <cstdint>
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

// What `whole` has of each block, the last axis fastest; blocks lie one behind another from
// `origin` on.
class Blocks {
 public:
  Blocks(const std::vector<fusion::Range>& whole, const Extents& block, const Extents& origin);
  std::int64_t count() const { return count_; }
  std::vector<fusion::Range> operator[](std::int64_t number) const;

 private:
  struct Axis {
    fusion::Range whole;
    std::int64_t first, block, count;  // where the first block begins, before `whole` or with it
  };
  std::vector<Axis> axes_;
  std::int64_t count_ = 1;
};

template <class F>
void for_each_block(const std::vector<fusion::Range>& whole, const Extents& block,
                    const Extents& origin, F&& f) {
  const Blocks blocks(whole, block, origin);
  for (std::int64_t i = 0; i < blocks.count(); ++i) f(blocks[i]);
}

}  // namespace tcsim::chains
