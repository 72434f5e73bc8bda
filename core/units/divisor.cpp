#include "core/units/divisor.hpp"

#include <cmath>
#include <cstdlib>
#include <initializer_list>

namespace tcsim {

std::int64_t nearest_divisor(std::int64_t n, double wanted) {
  std::int64_t best = 1;
  const auto off = [&](std::int64_t d) {
    return std::abs(std::log(static_cast<double>(d) / wanted));
  };
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    for (std::int64_t divisor : {d, n / d}) {
      if (off(divisor) < off(best)) best = divisor;
    }
  }
  return best;
}

}  // namespace tcsim
