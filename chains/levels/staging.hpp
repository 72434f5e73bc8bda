// The link to the disk: the first process moves a tile between its file and the level that all
// processes share, chunk by chunk through memory of its own, so that a chunk's elements are
// neighbours there as well.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chains/levels/global_memory.hpp"
#include "chains/rows.hpp"
#include "chains/tensor_files.hpp"
#include "chains/tensors.hpp"
#include "core/stop.hpp"

namespace tcsim::chains {

template <class T>
class Staging {
 public:
  // Of a block, at most; and of that with a chunk at a tensor's end.
  static constexpr std::int64_t bytes = std::int64_t{8} << 20;
  static constexpr Bytes memory{bytes + fusion::usual_chunk.value()};

  // Bytes that were moved. Heeds StopScope.
  std::int64_t move(TensorFile& file, GlobalMemory<T>& global,
                    const typename GlobalMemory<T>::Tile& tile, bool in) {
    const Extents block = block_of(file.chunk(), extents_of(tile.at));
    block_.reserve(static_cast<std::size_t>(bytes) / sizeof(T));
    std::int64_t moved = 0;
    Extents origin(tile.at.size(), 0);
    for (std::size_t axis = 0; axis < origin.size() && file.chunk().empty(); ++axis) {
      origin[axis] = tile.at[axis].begin;
    }
    for_each_block(tile.at, block, origin, [&](const std::vector<fusion::Range>& at) {
      StopScope::heed();
      block_.resize(static_cast<std::size_t>(elements_of(at)));
      chunks_ += file.chunks(at);
      if (in) {
        file.read(at, block_.data(), at_end_);
        global.put(tile, at, block_.data());
      } else {
        global.get(tile, at, block_.data());
        file.write(at, block_.data(), at_end_);
      }
      moved += elements_of(at) * static_cast<std::int64_t>(sizeof(T));
    });
    return moved;
  }

  // Of all chunks of which a block had a part.
  Bytes chunks() const { return chunks_; }

 private:
  // Where a file has no chunks, or tiny ones, a block of several.
  static constexpr std::int64_t least = std::int64_t{64} << 10;

  static Extents block_of(Extents block, const Extents& extents) {
    if (block.empty()) block.assign(extents.size(), 1);
    constexpr auto element = static_cast<std::int64_t>(sizeof(T));
    for (std::size_t axis = 0; product(block) * element > bytes; axis += block[axis] == 1) {
      block[axis] = (block[axis] + 1) / 2;
    }
    if (product(block) * element >= least) return block;
    for (std::size_t axis = block.size(); axis > 0; --axis) {
      const std::int64_t times = std::max<std::int64_t>(1, bytes / element / product(block));
      std::int64_t& along = block[axis - 1];
      along *= std::min(times, (extents[axis - 1] + along - 1) / along);
    }
    return block;
  }

  Bytes chunks_{0};
  std::vector<T> block_;
  std::vector<std::byte> at_end_;  // a chunk that reaches over the tensor's end
};

}  // namespace tcsim::chains
