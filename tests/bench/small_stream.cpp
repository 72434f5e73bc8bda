// Tests do not ask how fast anything is, and need no cold caches.
#include "bench/yardstick.hpp"
#include "kernels/cache_flusher.hpp"

namespace tcsim::bench {
namespace {

[[maybe_unused]] const bool streams_little = [] {
  most_streamed = Bytes(std::int64_t{8} << 20);
  CacheFlusher::most = std::size_t{8} << 20;
  return true;
}();

}  // namespace
}  // namespace tcsim::bench
