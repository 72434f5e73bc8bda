// Empties the caches of what a run before left there, those of each core that it ran on.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>

namespace tcsim {

// Of the last cache that the kernel tells of; 0 where it tells of none.
std::size_t twice_the_last_cache();

// Displaces everything else from the caches by reading more than they hold. Lines that are only
// read need not be written back when what is timed takes their places: a cache of 8 MiB full of
// written ones costs 0.2 ms on an AMD EPYC (Zen 1). Of a large last cache that takes a good part of
// a second at first, so it heeds StopScope. On several threads each reads a part: a core that slept
// meanwhile would begin what is timed with a slow clock, and with its own caches full.
class CacheFlusher {
 public:
  // Reads no more than that. Tests, which do not ask how fast anything is, take less.
  inline static std::size_t most = std::numeric_limits<std::size_t>::max();

  void operator()(int threads = 1);

 private:
  static std::size_t size();

  std::size_t size_ = size();
  // Written the first time: pages that never were are all the same one.
  std::unique_ptr<unsigned char[]> memory_ = std::make_unique_for_overwrite<unsigned char[]>(size_);
  bool is_written_ = false;
};

}  // namespace tcsim
