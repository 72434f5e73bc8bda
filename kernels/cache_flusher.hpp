// Empties the caches of what a run before left there.
#pragma once

#include <cstddef>
#include <memory>

namespace tcsim {

// Displaces everything else from the caches by writing more than they hold. Of a large last cache
// that takes a good part of a second at first, so it heeds StopScope.
class CacheFlusher {
 public:
  void operator()();

 private:
  static std::size_t size();

  std::size_t size_ = size();
  // Not touched before the first time.
  std::unique_ptr<unsigned char[]> memory_ = std::make_unique_for_overwrite<unsigned char[]>(size_);
  unsigned char value_ = 0;
};

}  // namespace tcsim
