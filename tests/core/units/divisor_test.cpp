#include "core/units/divisor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tcsim {
namespace {

TEST(Nearest_divisor, Is_near_by_ratio) {
  EXPECT_EQ(nearest_divisor(12, 5), 6);    // 6/5 = 1.2, 5/4 = 1.25
  EXPECT_EQ(nearest_divisor(12, 3.4), 3);  // 3.4/3 = 1.13, 4/3.4 = 1.18
  EXPECT_EQ(nearest_divisor(7, 3), 7);     // 7/3 = 2.3, 3/1 = 3
  EXPECT_EQ(nearest_divisor(7, 2), 1);     // 2/1 = 2, 7/2 = 3.5
  EXPECT_EQ(nearest_divisor(36, 6), 6);
  EXPECT_EQ(nearest_divisor(36, 1000), 36);
  EXPECT_EQ(nearest_divisor(1, 0.001), 1);
}

TEST(Nearest_divisor, No_other_divisor_is_nearer) {
  for (std::int64_t n = 1; n <= 200; ++n) {
    for (double wanted : {0.7, 1.9, 5.3, 12.0, 31.7, 150.1}) {
      const std::int64_t found = nearest_divisor(n, wanted);
      ASSERT_EQ(n % found, 0);
      const auto off = [&](std::int64_t d) {
        return std::abs(std::log(static_cast<double>(d) / wanted));
      };
      for (std::int64_t d = 1; d <= n; ++d) {
        if (n % d != 0) continue;
        EXPECT_LE(off(found), off(d)) << d << " of " << n << ", wanted " << wanted;
      }
    }
  }
}

}  // namespace
}  // namespace tcsim
