// Memory of a part of a tensor on its way between a disk and a tile. In huge pages: what the system
// moves past its own memory (O_DIRECT) goes to and from pieces that are neighbours in the
// computer's memory, so that large pages make few of them. With room for all of the pages of the
// file in which the part begins and ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/memory.hpp"

namespace tcsim::chains {

class Block {
 public:
  // What O_DIRECT wants of places, in memory and in the file.
  static constexpr std::int64_t page = 4096;

  Block() = default;
  // For parts of up to so many bytes.
  explicit Block(Bytes most) : memory_(most + Bytes(2 * page)) {}
  // What one takes.
  static Bytes taken(Bytes most) { return Memory::taken(most + Bytes(2 * page)); }

  // The values, which begin `shift` bytes behind the begin of a page, less than a page.
  std::byte* begin_behind(std::int64_t shift) {
    shift_ = shift;
    return values();
  }
  std::byte* values() const { return memory_.data() + shift_; }

 private:
  Memory memory_;
  std::int64_t shift_ = 0;
};

}  // namespace tcsim::chains
