#include "microbench/chase.hpp"

#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace tcsim {

void* make_cycle(std::byte* data, Bytes size, Bytes line, std::uint64_t seed) {
  // Shuffled as numbers, which fit the caches, and not as lines, which may not.
  std::vector<std::uint32_t> next(static_cast<std::size_t>(size / line));
  std::iota(next.begin(), next.end(), 0u);
  std::mt19937_64 random(seed);
  for (std::size_t i = next.size() - 1; i > 0; --i) {
    // Lemire's multiplication in place of a division; its bias of 2^-32 does not matter here.
    const std::size_t j = static_cast<std::size_t>(((random() >> 32) * i) >> 32);
    std::swap(next[i], next[j]);
  }
  const auto at = [&](std::size_t i) { return data + i * static_cast<std::size_t>(line.value()); };
  for (std::size_t i = 0; i < next.size(); ++i) *reinterpret_cast<void**>(at(i)) = at(next[i]);
  return data;
}

}  // namespace tcsim
