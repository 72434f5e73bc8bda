// Empties the caches of what a run before left there, those of each core that it ran on.
#pragma once

#include <cstddef>
#include <memory>

namespace tcsim {

// Displaces everything else from the caches by writing more than they hold. Of a large last cache
// that takes a good part of a second at first, so it heeds StopScope. On several threads each
// writes a part: a core that slept meanwhile would begin what is timed with a slow clock, and with
// its own caches full.
class CacheFlusher {
 public:
  void operator()(int threads = 1);

 private:
  static std::size_t size();

  std::size_t size_ = size();
  // Not touched before the first time.
  std::unique_ptr<unsigned char[]> memory_ = std::make_unique_for_overwrite<unsigned char[]>(size_);
  unsigned char value_ = 0;
};

}  // namespace tcsim
