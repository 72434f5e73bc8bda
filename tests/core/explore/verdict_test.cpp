#include "core/explore/verdict.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tcsim
