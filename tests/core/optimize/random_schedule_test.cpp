#include "core/optimize/random_schedule.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/schedule/registers.hpp"
#include "core/workload/request.hpp"
#include "tests/core/build.hpp"
#include "tests/core/large_problems.hpp"
#include "tests/core/random_convolution.hpp"

namespace tcsim {
namespace {

TEST(RandomSchedule, Are_legal_and_fit_the_registers) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return random.between(low, high);
  };
  const std::vector<Machine> machines{find_machine("e5-2680v4"), find_machine("zen5"),
                                      test::machine({{8, 4}})};
  for (int i = 0; i < 200; ++i) {
    const Contraction c = i % 2 == 0 ? test::random_contraction(random)
                                     : test::random_convolution(between, ElementType::f32);
    const Machine& m = random.pick(machines);
    const Schedule s = random_schedule(c, m, static_cast<std::uint64_t>(i));
    std::vector<std::string> levels;
    for (const Level& l : m.levels) levels.push_back(l.name);
    EXPECT_NO_THROW(check(s, c, levels, "drawn")) << to_line(s, c);
    EXPECT_NO_THROW(require_registers(s, c.type(), m, "drawn")) << to_line(s, c);
  }
}

TEST(RandomSchedule, Are_the_same_for_the_same_seed_alone) {
  const Contraction c = find_workload({"resnet18:3", "", {}, {}});
  const Machine m = find_machine("i7-6700k");
  EXPECT_EQ(random_schedule(c, m, 5), random_schedule(c, m, 5));
  EXPECT_NE(random_schedule(c, m, 5), random_schedule(c, m, 6));
}

}  // namespace
}  // namespace tcsim
