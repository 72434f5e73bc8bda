// Division of whole numbers.
#pragma once

#include <cstdint>

namespace tcsim {

// a / b rounded up; a >= 0, b > 0, a + b below 2^63.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The divisor of n (>= 1) whose ratio to `wanted` (> 0) is nearest to one.
std::int64_t nearest_divisor(std::int64_t n, double wanted);

}  // namespace tcsim
