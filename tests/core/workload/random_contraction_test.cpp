#include "core/workload/random_contraction.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/seed.hpp"

namespace tcsim {
namespace {

bool has_divisor(std::int64_t n) {
  for (std::int64_t d = 2; d < n; ++d) {
    if (n % d == 0) return true;
  }
  return false;
}

TEST(Random_contraction, Keeps_to_what_is_said_of_it) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::set<int> counts;
  std::set<Layout> layouts;
  std::set<ElementType> types;
  int primes = 0, odd = 0, even = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Contraction c = random_contraction(seed + i);
    counts.insert(c.dim_count());
    layouts.insert(c.layout());
    types.insert(c.type());
    double work = 1;
    for (int d = 0; d < c.dim_count(); ++d) {
      const std::int64_t n = c.dim(DimId{d}).extent;
      EXPECT_GE(n, 5);
      EXPECT_LE(n, 200);
      ++(!has_divisor(n) ? primes : n % 2 == 0 ? even : odd);
      work *= static_cast<double>(n);
    }
    EXPECT_GE(work, 1e6);
    EXPECT_LE(work, 1e8);
  }
  EXPECT_EQ(*counts.begin(), 3);
  EXPECT_LE(*counts.rbegin(), 8);
  EXPECT_EQ(layouts.size(), 2u);
  EXPECT_EQ(types.size(), 2u);
  for (int kind : {primes, odd, even}) EXPECT_GT(kind, (primes + odd + even) / 5);
}

TEST(Random_contraction, Is_the_same_for_the_same_seed) {
  const Contraction one = random_contraction(7), again = random_contraction(7);
  EXPECT_EQ(one.label(), again.label());
  EXPECT_EQ(one.sizes(), again.sizes());
  EXPECT_EQ(one.type(), again.type());
  EXPECT_EQ(one.layout(), again.layout());
  EXPECT_NE(random_contraction(8).sizes(), one.sizes());
}

}  // namespace
}  // namespace tcsim
