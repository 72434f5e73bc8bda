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
    const Blocks blocks(tile.at, block, origin);
    const auto room = [&](std::int64_t i, const std::vector<fusion::Range>& at) {
      std::vector<T>& one = rooms_[static_cast<std::size_t>(i % 2)];
      one.reserve(static_cast<std::size_t>(bytes) / sizeof(T));
      one.resize(static_cast<std::size_t>(elements_of(at)));
      return one.data();
    };
    // A block that is a chunk has a place in the file.
    const std::int64_t named_blocks =
        blocks.count() > 1 && block == file.chunk() ? blocks.count() : 0;
    std::int64_t named = 0, named_bytes = 0, moved = 0;
    const auto in_file = [&](std::int64_t i) {
      const std::vector<fusion::Range> at = blocks[i];
      if (!in) return file.write(at, room(i, at), at_end_);
      for (; named < named_blocks && named_bytes <= ahead; ++named) {
        const std::vector<fusion::Range> later = blocks[named];
        file.read_soon(later);
        named_bytes += bytes_of(later);
      }
      named_bytes -= bytes_of(at);
      file.read(at, room(i, at), at_end_);
    };
    const auto in_memory = [&](std::int64_t i) {
      StopScope::heed();
      const std::vector<fusion::Range> at = blocks[i];
      chunks_ += file.chunks(at);
      moved += bytes_of(at);
      if (in) {
        global.put(tile, at, room(i, at));
      } else {
        global.get(tile, at, room(i, at));
      }
    };
    if (in) {
      run_in_two_stages(blocks.count(), in_file, in_memory, true);
    } else {
      run_in_two_stages(blocks.count(), in_memory, in_file, false);
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
