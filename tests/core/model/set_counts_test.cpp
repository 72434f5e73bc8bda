#include "core/model/set_counts.hpp"

#include <gtest/gtest.h>

#include "core/model/occupancy.hpp"
#include "tests/core/build.hpp"
#include "tests/groups.hpp"

namespace tcsim {
namespace {

// Row-major C[i][j] of 64 x 64 doubles: a row is 8 lines, so row i begins in line 8 i.
TEST(Set_counts, Follow_the_real_addresses) {
  const TileLines c(test::matmul(64, 64, 8), test::groups("ijk", {"j", "i", "k", ""}), TensorId::C,
                    8);
  SetCounter counter;
  // 16 rows of 8 elements: lines 0, 8, ..., 120. In 64 sets every eighth set holds two.
  const SetCounts* few = counter.count(c, {8, 16, 1, 1}, 64, 8);
  ASSERT_NE(few, nullptr);
  EXPECT_EQ(few->lines, 16);
  EXPECT_DOUBLE_EQ(few->share[2], 8.0 / 64);
  EXPECT_DOUBLE_EQ(few->share[0], 56.0 / 64);
  // Whole rows are contiguous: 128 lines, two in every set.
  EXPECT_DOUBLE_EQ(counter.count(c, {64, 16, 1, 1}, 64, 8)->share[2], 1);
  // More than `most` gathers in the last entry: 64 rows in 8 sets of 8.
  EXPECT_DOUBLE_EQ(counter.count(c, {8, 64, 1, 1}, 64, 4)->share[4], 8.0 / 64);
  EXPECT_EQ(SetCounter(100).count(c, {64, 64, 1, 1}, 64, 8), nullptr);  // 512 lines
  EXPECT_EQ(counter.count(c, {8, 16, 1, 1}, 64, 8), few);               // remembered
}

TEST(Set_counts, Decide_what_runs_would_not) {
  // The 16 rows above fall on 8 of 64 sets, two on each: a line of the array itself always has one
  // other in its set, a line of another array has two with a chance of 8 / 64.
  const TileLines c(test::matmul(64, 64, 8), test::groups("ijk", {"j", "i", "k", ""}), TensorId::C,
                    8);
  SetCounter counter;
  const SetCounts* counts = counter.count(c, {8, 16, 1, 1}, 64, 8);
  WindowPart own[] = {{16, 1, counts, true}};
  EXPECT_DOUBLE_EQ(miss_probability({64, 1}, own), 1);  // always one other
  EXPECT_DOUBLE_EQ(miss_probability({64, 2}, own), 0);  // never two
  WindowPart foreign[] = {{16, 1, counts, false}};
  EXPECT_DOUBLE_EQ(miss_probability({64, 2}, foreign), 8.0 / 64);
}

}  // namespace
}  // namespace tcsim
