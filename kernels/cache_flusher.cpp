#include "kernels/cache_flusher.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/stop.hpp"
#include "kernels/crew.hpp"

namespace tcsim {

namespace {

constexpr std::size_t line_bytes = 64;

}  // namespace

std::size_t twice_the_last_cache() {
  const long last = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  return 2 * static_cast<std::size_t>(std::max(last, 0L));
}

void CacheFlusher::operator()(int threads) {
  const auto parts = static_cast<std::size_t>(threads);
  on_crew_threads(threads, [&](int thread) {
    // Of the calling thread alone: no other one has a scope to heed.
    StopCheck check(std::int64_t{1} << 16);
    const auto part = static_cast<std::size_t>(thread);
    const std::size_t end = size_ * (part + 1) / parts;
    for (std::size_t i = size_ * part / parts; i < end; i += line_bytes) {
      volatile unsigned char& line = memory_[i];
      if (is_written_) {
        [[maybe_unused]] const unsigned char read = line;
      } else {
        line = 1;
      }
      check();
    }
  });
  if (!std::exchange(is_written_, true)) (*this)(threads);
}

std::size_t CacheFlusher::size() {
  return std::min(most, std::max(std::size_t{64} << 20, twice_the_last_cache()));
}

}  // namespace tcsim
