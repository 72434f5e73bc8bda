#include "core/workload/affine.hpp"

#include <algorithm>
#include <numeric>

namespace tcsim {

double different_values(std::int64_t a, double m, std::int64_t b, double n) {
  const std::int64_t g = std::gcd(a, b);
  const double with_predecessor =
      std::max(0.0, m - static_cast<double>(b / g)) * std::max(0.0, n - static_cast<double>(a / g));
  return m * n - with_predecessor;
}

}  // namespace tcsim
