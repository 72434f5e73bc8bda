// Divisors of whole numbers.
#pragma once

#include <cstdint>

namespace tcsim {

// The divisor of n (>= 1) whose ratio to `wanted` (> 0) is nearest to one.
std::int64_t nearest_divisor(std::int64_t n, double wanted);

}  // namespace tcsim
