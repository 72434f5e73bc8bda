// Two stages beside each other.
#include "core/threads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tcsim {
namespace {

// The first stage makes something in one of two places, the second looks at it there.
TEST(Two_stages, Go_in_order_and_no_further_than_one_ahead) {
  for (const bool first_elsewhere : {false, true}) {
    for (const std::int64_t count : {0, 1, 2, 3, 1000}) {
      std::array<std::int64_t, 2> places{-1, -1};
      std::vector<std::int64_t> seen;
      std::atomic<std::int64_t> looked_at = 0;
      const auto caller = std::this_thread::get_id();
      run_in_two_stages(
          count,
          [&](std::int64_t i) {
            EXPECT_LE(i - looked_at, 1);
            if (count > 1) {
              EXPECT_EQ(std::this_thread::get_id() != caller, first_elsewhere);
            }
            places[static_cast<std::size_t>(i % 2)] = i;
          },
          [&](std::int64_t i) {
            if (count > 1) {
              EXPECT_EQ(std::this_thread::get_id() == caller, first_elsewhere);
            }
            seen.push_back(places[static_cast<std::size_t>(i % 2)]);
            ++looked_at;
          },
          first_elsewhere);
      ASSERT_EQ(static_cast<std::int64_t>(seen.size()), count);
      for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
    }
  }
}

// second(1) ends only after first(2) has begun: nothing but both at the same time does it.
TEST(Two_stages, Go_at_the_same_time) {
  for (const bool first_elsewhere : {false, true}) {
    std::atomic<bool> begun = false;
    run_in_two_stages(
        4,
        [&](std::int64_t i) {
          if (i != 2) return;
          begun = true;
          begun.notify_all();
        },
        [&](std::int64_t i) {
          if (i == 1) begun.wait(false);
        },
        first_elsewhere);
  }
}

TEST(Two_stages, End_where_one_of_them_fails) {
  for (const bool first_elsewhere : {false, true}) {
    for (const bool first_fails : {false, true}) {
      std::atomic<int> calls = 0;
      const auto fails = [&](std::int64_t i) {
        ++calls;
        if (i == 5) throw std::runtime_error("the sixth");
      };
      const auto goes_on = [&](std::int64_t) { ++calls; };
      try {
        if (first_fails) {
          run_in_two_stages(1000, fails, goes_on, first_elsewhere);
        } else {
          run_in_two_stages(1000, goes_on, fails, first_elsewhere);
        }
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "the sixth");
      }
      EXPECT_LE(calls, 6 + 8);
    }
  }
}

}  // namespace
}  // namespace tcsim
