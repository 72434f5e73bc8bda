#include "core/model/kernel_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"
#include "core/schedule/registers.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// Each kernel call of a plan by itself.
struct EachCall {
  const Core& core;
  std::int64_t lanes;
  double cycles = 0;

  void pack(const PackPlan&, const Tile&) {}
  void kernel(const KernelCall& call) {
    const Tile& t = *call.tile;
    const auto rows = t[DimClass::m].size, columns = t[DimClass::n].size, k = t[DimClass::k].size;
    std::int64_t vectors = 0;
    for (std::int64_t row = 0; row < rows; row += lanes) ++vectors;
    // A load for each vector of the left operand and each column, and what they are for.
    const auto instructions = static_cast<double>(k * (vectors * columns + vectors + columns));
    const double busy = static_cast<double>(vectors * columns) / core.fma_per_cycle.value;
    const double latency = core.fma_latency.value.value();
    cycles += static_cast<double>(k) *
              std::max(busy, instructions < 192 ? latency * instructions / 192 : latency);
  }
};

TEST(Kernel_time, Is_the_sum_over_all_calls) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const Contraction c = test::random_contraction(random);
    const Schedule s = test::random_schedule(c, random);
    Machine m = test::machine({{64, 8}});
    m.core.fma_per_cycle.value = 2;
    const Plan plan(c, s);
    if (plan.along_k()) continue;
    EachCall calls{m.core, lanes_of(m.core, c.type())};
    walk(plan, calls);
    const double seconds =
        std::max(calls.cycles / m.core.frequency.value.value(), peak_time(c, m).value());
    EXPECT_NEAR(kernel_time(c, s, m).value(), seconds, 1e-9 * seconds) << to_line(s, c);
    EXPECT_LE(whole_vectors_time(c, s.groups, false, m).value(),
              kernel_time(c, s, m).value() * (1 + 1e-12));
  }
}

// 49 rows take 13 vectors of four: 52 rows' time.
TEST(Kernel_time, Vectors_are_whole) {
  const Machine m = test::machine({{64, 8}});
  const Contraction c = test::matmul(49, 60, 1000);
  const Schedule s =
      parse_schedule("groups m=i n=j k=k for m by 8 { for n by 6 { kernel 8x6 } }", c, "test");
  const double peak = 2.0 * 49 * 60 * 1000 / 8 / 1e9;
  EXPECT_DOUBLE_EQ(peak_time(c, m).value(), peak);
  EXPECT_DOUBLE_EQ(kernel_time(c, s, m).value(), peak * 52 / 49);
  EXPECT_DOUBLE_EQ(whole_vectors_time(c, s.groups, false, m).value(), peak * 52 / 49);
}

// One vector by two columns: two multiply-adds at one a cycle, and each waits 4 cycles for the one
// before. Where k is short the core works on several tiles meanwhile.
TEST(Kernel_time, Results_wait_for_themselves) {
  const Machine m = test::machine({{64, 8}});
  const auto time = [&](std::int64_t k) {
    const Contraction c = test::matmul(4, 2, k);
    const Schedule s = parse_schedule("groups m=i n=j k=k kernel 4x2", c, "test");
    return kernel_time(c, s, m).value() * 1e9 / static_cast<double>(k);
  };
  EXPECT_DOUBLE_EQ(time(1000), 4);
  EXPECT_DOUBLE_EQ(time(192 / 5 / 2), 2);
  EXPECT_DOUBLE_EQ(time(4), 2);
}

}  // namespace
}  // namespace tcsim
