// The link to the disk: the first process moves a tile between its file and the level that all
// processes share, chunk by chunk through memory of its own, so that a chunk's elements are
// neighbours there as well. Another thread has the file, so that a chunk comes from the disk while
// the one before it finds its places in the tile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chains/levels/global_memory.hpp"
#include "chains/rows.hpp"
#include "chains/tensor_files.hpp"
#include "chains/tensors.hpp"
#include "core/stop.hpp"
#include "core/threads.hpp"

namespace tcsim::chains {

template <class T>
class Staging {
 public:
  // Of a block, at most; and of two with a chunk at a tensor's end.
  static constexpr std::int64_t bytes = std::int64_t{4} << 20;
  static constexpr Bytes memory{2 * bytes + fusion::usual_chunk.value()};

  // Bytes that were moved. Heeds StopScope.
  std::int64_t move(TensorFile& file, GlobalMemory<T>& global,
                    const typename GlobalMemory<T>::Tile& tile, bool in) {
    const Extents block = block_of(file.chunk(), extents_of(tile.at));
    Extents origin(tile.at.size(), 0);
    for (std::size_t axis = 0; axis < origin.size() && file.chunk().empty(); ++axis) {
      origin[axis] = tile.at[axis].begin;
    }
    std::vector<std::vector<fusion::Range>> blocks;
    std::int64_t moved = 0;
    for_each_block(tile.at, block, origin, [&](const std::vector<fusion::Range>& at) {
      blocks.push_back(at);
      chunks_ += file.chunks(at);
      moved += bytes_of(at);
    });
    const auto count = static_cast<std::int64_t>(blocks.size());
    const auto at = [&](std::int64_t i) -> const std::vector<fusion::Range>& {
      return blocks[static_cast<std::size_t>(i)];
    };
    const auto room = [&](std::int64_t i) {
      std::vector<T>& one = rooms_[static_cast<std::size_t>(i % 2)];
      one.reserve(static_cast<std::size_t>(bytes) / sizeof(T));
      one.resize(static_cast<std::size_t>(elements_of(at(i))));
      return one.data();
    };
    std::int64_t named = 0, named_bytes = 0;
    if (in) {
      run_in_two_stages(
          count,
          [&](std::int64_t i) {
            for (; named < count && named_bytes <= ahead; ++named) {
              file.read_soon(at(named));
              named_bytes += bytes_of(at(named));
            }
            named_bytes -= bytes_of(at(i));
            file.read(at(i), room(i), at_end_);
          },
          [&](std::int64_t i) {
            StopScope::heed();
            global.put(tile, at(i), room(i));
          },
          true);
    } else {
      run_in_two_stages(
          count,
          [&](std::int64_t i) {
            StopScope::heed();
            global.get(tile, at(i), room(i));
          },
          [&](std::int64_t i) { file.write(at(i), room(i), at_end_); }, false);
    }
    return moved;
  }

  // Of all chunks of which a block had a part.
  Bytes chunks() const { return chunks_; }

 private:
  // Where a file has no chunks, or tiny ones, a block of several.
  static constexpr std::int64_t least = std::int64_t{64} << 10;

  // Of blocks that the disk is asked for before they are read, so that it has always something to
  // do where they are not neighbours: 2 MiB come 1.4 times as fast then.
  static constexpr std::int64_t ahead = std::int64_t{8} << 20;

  static std::int64_t bytes_of(const std::vector<fusion::Range>& at) {
    return elements_of(at) * static_cast<std::int64_t>(sizeof(T));
  }
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
  std::array<std::vector<T>, 2> rooms_;
  std::vector<std::byte> at_end_;  // a chunk that reaches over the tensor's end
};

}  // namespace tcsim::chains
