// Memory of a part of a tensor on its way between a disk and a tile. In huge pages: what the system
// moves past its own memory (O_DIRECT) goes to and from pieces that are neighbours in the
// computer's memory, so that large pages make few of them. With room for all of the pages of the
// file in which the part begins and ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/fusion/walk.hpp"
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

  // Begins anew: values of these ranges, row-major, from `shift` bytes (less than a page) behind
  // the begin of a page on.
  void lay_out(std::vector<fusion::Range> ranges, std::int64_t shift) {
    ranges_ = std::move(ranges);
    shift_ = shift;
  }
  const std::vector<fusion::Range>& ranges() const { return ranges_; }
  std::byte* values() const { return memory_.data() + shift_; }
  template <class T>
  T* values_as() const {
    return reinterpret_cast<T*>(values());
  }

 private:
  Memory memory_;
  std::vector<fusion::Range> ranges_;
  std::int64_t shift_ = 0;
};

}  // namespace tcsim::chains
