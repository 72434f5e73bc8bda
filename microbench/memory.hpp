// Memory to measure on, on huge pages where the kernel gives them, so that what is timed is the
// caches and not the address translation.
#pragma once

#include <cstddef>

#include "core/units/quantity.hpp"

namespace tcsim {

// A block of doubles, all 1, written (and so placed on its NUMA node) by the thread that makes it.
// Aligned to a huge page. Throws UnsupportedError if there is no such memory.
class Block {
 public:
  explicit Block(Bytes size);
  ~Block();
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() const { return data_; }
  Bytes size() const { return Bytes(static_cast<std::int64_t>(size_)); }
  // How much of it lies on huge pages, as the kernel tells (/proc/self/smaps); 0 if it does not.
  Bytes on_huge_pages() const;

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0, size_ = 0;
  std::byte* data_ = nullptr;
};

// Bytes that this process may still take without swapping; 0 if the kernel does not tell.
Bytes free_memory();

}  // namespace tcsim
