// ioopt, Fig. 7: bounds of the TCCG contractions and the layers of Yolo9000 for stores of 16 kB to
// 4 MB. The two are "at most a factor of 3" apart, Yolo9000-2 with the smallest store; the lower
// one is never above the upper one, and both fall or stay as the store grows.
#include <gtest/gtest.h>

#include "core/bounds/lower.hpp"
#include "core/bounds/upper.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/suite.hpp"

namespace tcsim::bounds {
namespace {

TEST(Fig7, Bounds_are_at_most_a_factor_of_three_apart) {
  for (const char* suite : {"tccg", "yolo9000"}) {
    for (const Contraction& c : find_suite(suite).workloads) {
      const Problem problem = problem_of(program_of(c));
      const Nest nest = nest_of(c, Moves::loads);
      double lower_before = 1e300, upper_before = 1e300;
      for (std::int64_t bytes = 16 << 10; bytes <= 4 << 20; bytes *= 4) {
        const std::int64_t capacity = bytes / size_of(c.type()).value();
        const LowerNumber number =
            lower_bound_at(problem, Moves::loads, capacity, sizes_of(problem));
        const auto upper = upper_bound(nest, static_cast<double>(capacity));
        ASSERT_TRUE(upper);
        const double low = static_cast<double>(number.elements), high = upper->cost.moved;
        EXPECT_LE(low, high) << c.name() << " in " << capacity;
        EXPECT_LE(high, 3 * low) << c.name() << " in " << capacity;
        EXPECT_LE(low, lower_before) << c.name() << " in " << capacity;
        EXPECT_LE(high, upper_before) << c.name() << " in " << capacity;
        // Ours are closer.
        EXPECT_LE(high, 1.4 * low) << c.name() << " in " << capacity;
        lower_before = low, upper_before = high;
      }
    }
  }
}

}  // namespace
}  // namespace tcsim::bounds
