#include "core/model/occupancy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tcsim {
namespace {

TEST(Occupancy, Fully_associative_is_all_or_nothing) {
  const SetAssociative cache{1, 100};
  const WindowPart fits[] = {{60, 1}, {39, 1}}, too_large[] = {{60, 1}, {40, 1}};
  EXPECT_EQ(miss_probability(cache, fits), 0);  // 99 others and the line itself
  EXPECT_EQ(miss_probability(cache, too_large), 1);
}

TEST(Occupancy, Contiguous_lines_spread_evenly) {
  // 64 sets of 8 ways. 7 x 64 contiguous lines put exactly 7 into every set: the line survives;
  // 7.5 x 64 put an eighth into half of the sets.
  const SetAssociative cache{64, 8};
  const WindowPart seven[] = {{448, 448}}, more[] = {{480, 480}}, eight[] = {{512, 512}};
  EXPECT_EQ(miss_probability(cache, seven), 0);
  EXPECT_NEAR(miss_probability(cache, more), 0.5, 1e-12);
  EXPECT_EQ(miss_probability(cache, eight), 1);
}

TEST(Occupancy, Scattered_lines_fall_like_poisson) {
  // Direct-mapped, 1000 sets, 700 single lines: nobody else in the set with exp(-0.7).
  const WindowPart scattered[] = {{700, 1}};
  EXPECT_NEAR(miss_probability({1000, 1}, scattered), 1 - std::exp(-0.7), 1e-3);
  // Two ways: at most one other, exp(-0.7) (1 + 0.7).
  EXPECT_NEAR(miss_probability({1000, 2}, scattered), 1 - std::exp(-0.7) * 1.7, 1e-3);
}

TEST(Occupancy, A_line_does_not_count_against_itself) {
  // A buffer that fills 8 ways of 64 sets exactly: 511 other lines, 7 others in x's set.
  const WindowPart own[] = {{511, 512, nullptr, true}};
  EXPECT_EQ(miss_probability({64, 8}, own), 0);
  // 8.5 ways: half of the sets hold 9 lines; x sits in one of those with 4.5 / 8.5.
  const WindowPart more[] = {{64 * 8.5 - 1, 64 * 8.5, nullptr, true}};
  EXPECT_NEAR(miss_probability({64, 9}, more), 0, 1e-12);
  EXPECT_NEAR(miss_probability({64, 8}, more), 4.5 / 8.5, 1e-9);
}

}  // namespace
}  // namespace tcsim
