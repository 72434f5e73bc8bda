// Memory for tensors and packed copies: aligned to 2 MiB, in huge pages if it is more than 64 KiB
// and the system grants them, zero, and touched, so that no timed run pays for page faults.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/io/available_memory.hpp"
#include "core/units/quantity.hpp"

namespace tcsim {

class Memory {
 public:
  Memory() = default;
  // Throws UnsupportedError if the system does not give so much. Some bytes more can be read.
  explicit Memory(Bytes size);
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;

  std::byte* data() const { return data_; }
  // What one of `size` takes, in whole pages.
  static Bytes taken(Bytes size);
  // The largest that takes no more than this; 0: none does.
  static Bytes most_within(Bytes taken);

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tcsim
