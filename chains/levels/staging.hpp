// The link to the disk: the first process moves a tile between its file and the level that all
// processes share, chunk by chunk through memory of its own, so that a chunk goes straight to and
// from the disk (chains/chunked_file.hpp). Another thread has the file, so that a chunk comes from
// the disk while the one before it finds its places in the tile.
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
  static constexpr Bytes most{(std::int64_t{4} << 20) - 4 * Block::page};  // of a block
  static Bytes memory() { return Bytes(2 * Block::taken(most).value()) + most; }
  // Before anything is moved.
  void make_room() {
    for (Block& room : rooms_) room = Block(most);
  }

  // Bytes that were moved. Heeds StopScope.
  std::int64_t move(TensorFile& file, GlobalMemory<T>& global,
                    const typename GlobalMemory<T>::Tile& tile, bool in) {
    const Extents block = block_of(file.chunk(), extents_of(tile.at));
    Extents origin(tile.at.size(), 0);
    for (std::size_t axis = 0; axis < origin.size() && file.chunk().empty(); ++axis) {
      origin[axis] = tile.at[axis].begin;
    }
    const Blocks blocks(tile.at, block, origin);
    std::int64_t moved = 0;
    const auto room = [&](std::int64_t i) -> Block& {
      return rooms_[static_cast<std::size_t>(i % 2)];
    };
    const auto in_file = [&](std::int64_t i) {
      if (in) {
        file.read(blocks[i], room(i));
      } else {
        file.write(blocks[i], room(i));
      }
    };
    const auto in_memory = [&](std::int64_t i) {
      StopScope::heed();
      const std::vector<fusion::Range> at = blocks[i];
      chunks_ += file.chunks(at);
      moved += elements_of(at) * static_cast<std::int64_t>(sizeof(T));
      in ? put(global, tile, at, room(i)) : get(file, global, tile, at, room(i));
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

  static Extents block_of(Extents block, const Extents& extents) {
    if (block.empty()) block.assign(extents.size(), 1);
    constexpr auto element = static_cast<std::int64_t>(sizeof(T));
    for (std::size_t axis = 0; product(block) * element > most.value(); axis += block[axis] == 1) {
      block[axis] = (block[axis] + 1) / 2;
    }
    if (product(block) * element >= least) return block;
    for (std::size_t axis = block.size(); axis > 0; --axis) {
      const std::int64_t times = std::max<std::int64_t>(1, most.value() / element / product(block));
      std::int64_t& along = block[axis - 1];
      along *= std::min(times, (extents[axis - 1] + along - 1) / along);
    }
    return block;
  }

  // From a block to its place in the tile, and back.
  void put(GlobalMemory<T>& global, const typename GlobalMemory<T>::Tile& tile,
           const std::vector<fusion::Range>& at, const Block& block) {
    const T* const values = block.values_as<const T>();
    if (T* const whole = global.whole(tile)) {
      copy_part(block.ranges(), values, tile.at, whole, at);
    } else if (block.ranges() == at) {
      global.put(tile, at, values);
    } else {
      copy_out(block.ranges(), at, values, own_of(at));
      global.put(tile, at, own_.data());
    }
  }
  void get(const TensorFile& file, GlobalMemory<T>& global,
           const typename GlobalMemory<T>::Tile& tile, const std::vector<fusion::Range>& at,
           Block& block) {
    file.prepare(at, block);
    T* const values = block.values_as<T>();
    if (const T* const whole = global.whole(tile)) {
      copy_part(tile.at, whole, block.ranges(), values, at);
    } else if (block.ranges() == at) {
      global.get(tile, at, values);
    } else {
      global.get(tile, at, own_of(at));
      copy_in(block.ranges(), at, values, own_.data());
    }
  }
  T* own_of(const std::vector<fusion::Range>& at) {
    own_.resize(static_cast<std::size_t>(elements_of(at)));
    return own_.data();
  }

  Bytes chunks_{0};
  std::vector<T> own_;  // of a part of a chunk, where the tile is of several processes
  std::array<Block, 2> rooms_;
};

}  // namespace tcsim::chains
