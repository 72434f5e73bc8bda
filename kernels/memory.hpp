// Memory for tensors and packed copies: aligned to 2 MiB, in huge pages if the system grants them,
// zero, and touched, so that no timed run pays for page faults.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/units/quantity.hpp"

namespace tcsim {

// Memory that can be had without swapping, by the kernel's own estimate; unlimited if it keeps
// silent.
Bytes available_memory();

class Memory {
 public:
  Memory() = default;
  // Throws UnsupportedError if the system does not give so much. Some bytes more can be read.
  explicit Memory(Bytes size);
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;

  std::byte* data() const { return data_; }
  // What one of `size` takes, in whole pages of 2 MiB.
  static Bytes taken(Bytes size);

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tcsim
