// The link to the disk: the first process moves a tile between its file and the level that all
// processes share, chunk by chunk through memory of its own, so that a chunk's elements are
// neighbours there as well.
#pragma once

#include <algorithm>
#include <cstddef>
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
  // Of a block, at most; and of that with a chunk at a tensor's end.
  static constexpr std::int64_t bytes = std::int64_t{8} << 20;
  static constexpr Bytes memory{bytes + fusion::usual_chunk.value()};

  // Bytes that were moved. Heeds StopScope.
  std::int64_t move(TensorFile& file, GlobalMemory<T>& global,
                    const typename GlobalMemory<T>::Tile& tile, bool in) {
    const Extents block = block_of(file.chunk(), extents_of(tile.at));
    block_.reserve(static_cast<std::size_t>(bytes) / sizeof(T));
    std::int64_t moved = 0;
    for_each_part(tile.at, block, !file.chunk().empty(), [&](const std::vector<fusion::Range>& at) {
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

  // Calls f with what a tile has of each block; blocks lie one behind another from the array's
  // first element on, or, not `of_array`, the tile's.
  template <class F>
  static void for_each_part(const std::vector<fusion::Range>& tile, const Extents& block,
                            bool of_array, F&& f) {
    std::vector<fusion::Range> at = tile;
    const auto cut = [&](std::size_t axis) {
      const std::int64_t origin = of_array ? 0 : tile[axis].begin;
      const std::int64_t before = (at[axis].begin - origin) / block[axis];
      const std::int64_t end = origin + (before + 1) * block[axis];
      at[axis].size = std::min(end, tile[axis].begin + tile[axis].size) - at[axis].begin;
    };
    for (std::size_t axis = 0; axis < at.size(); ++axis) cut(axis);
    for (;;) {
      f(at);
      std::size_t axis = at.size();
      for (; axis > 0; --axis) {
        fusion::Range& r = at[axis - 1];
        const fusion::Range& whole = tile[axis - 1];
        r.begin += r.size;
        const bool more = r.begin < whole.begin + whole.size;
        if (!more) r.begin = whole.begin;
        cut(axis - 1);
        if (more) break;
      }
      if (axis == 0) return;
    }
  }

  Bytes chunks_{0};
  std::vector<T> block_;
  std::vector<std::byte> at_end_;  // a chunk that reaches over the tensor's end
};

}  // namespace tcsim::chains
