#include "core/explore/verdict.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"

namespace tcsim {
namespace {

TEST(Words, Changes_are_percent_up_to_twice_then_times) {
  EXPECT_EQ(change_words(1.21), "+21.0 %");
  EXPECT_EQ(change_words(1.0044), "+0.44 %");
  EXPECT_EQ(change_words(1), "+0.00 %");
  EXPECT_EQ(change_words(1 - 1e-9), "+0.00 %");
  EXPECT_EQ(change_words(0.95), "-5.0 %");
  EXPECT_EQ(change_words(3.2), "3.2 times");
}

TEST(Words, A_rate_above_the_peak_is_explained) {
  Machine m = find_machine("e5-2680v4");  // 38.4 GFLOPS
  Prediction p;
  p.rate = FlopsPerSecond(19.2e9);
  EXPECT_EQ(rate_words(m, p, Bytes(8)),
            "50.0 % of what the core's multiply-adds reach, 38.4 GFLOPS");
  m.accounting = Accounting::paper();
  EXPECT_EQ(rate_words(m, p, Bytes(8)),
            "50.0 % of what the core's multiply-adds reach, 38.4 GFLOPS; this accounting times "
            "moving data alone");
  p.rate = FlopsPerSecond(86.9e9);
  EXPECT_EQ(rate_words(m, p, Bytes(8)),
            "No core runs that fast: its multiply-adds reach 38.4 GFLOPS. This accounting times "
            "moving data alone, as if computing took no time");
}

}  // namespace
}  // namespace tcsim
