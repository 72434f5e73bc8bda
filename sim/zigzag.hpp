// Signed numbers as unsigned ones, small where they are near 0: 0, -1, 1, -2, ... are 0, 1, 2, 3.
#pragma once

#include <cstdint>

namespace tcsim::sim {

constexpr std::uint64_t zigzag(std::int64_t x) {
  return (static_cast<std::uint64_t>(x) << 1) ^ static_cast<std::uint64_t>(x >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t x) {
  return static_cast<std::int64_t>((x >> 1) ^ (~(x & 1) + 1));
}

}  // namespace tcsim::sim
