// The link to the disk: the first process moves a tile between its file and the level that all
// processes share, in blocks of whole chunks through memory of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chains/levels/global_memory.hpp"
#include "chains/levels/runs.hpp"
#include "chains/tensor_files.hpp"
#include "chains/tensors.hpp"
#include "core/stop.hpp"

namespace tcsim::chains {

template <class T>
class Staging {
 public:
  // Of a block, at most.
  static constexpr std::int64_t bytes = std::int64_t{8} << 20;

  // Bytes that were moved. Heeds StopScope.
  std::int64_t move(TensorFile& file, GlobalMemory<T>& global,
                    const typename GlobalMemory<T>::Tile& tile, bool in) {
    Extents block = file.chunk();
    const Extents extents = extents_of(tile.at);
    if (block.empty()) block.assign(extents.size(), 1);
    constexpr std::int64_t most = bytes / static_cast<std::int64_t>(sizeof(T));
    for (std::size_t axis = block.size(); axis > 0; --axis) {
      std::int64_t& along = block[axis - 1];
      along = std::min(along, extents[axis - 1]);
      const std::int64_t times = std::max<std::int64_t>(1, most / product(block));
      along = std::min(extents[axis - 1], along * times);
    }
    std::int64_t moved = 0;
    for_each_block(extents, block, [&](std::vector<fusion::Range> at) {
      StopScope::heed();
      for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis].begin += tile.at[axis].begin;
      block_.resize(static_cast<std::size_t>(elements_of(at)));
      if (in) {
        file.read(at, block_.data());
        global.put(tile, at, block_.data());
      } else {
        global.get(tile, at, block_.data());
        file.write(at, block_.data());
      }
      moved += elements_of(at) * static_cast<std::int64_t>(sizeof(T));
    });
    return moved;
  }

 private:
  std::vector<T> block_;
};

}  // namespace tcsim::chains
