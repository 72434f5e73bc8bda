// The optimizer's schedules for full-size workloads of the TCCG suite on the shipped machines:
// predicted and simulated bytes agree within 10 % at every level. These are the ones that simulate
// within a second or so; "tcsim report tccg" covers the rest.
#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/plan/plan.hpp"
#include "core/workload/suite.hpp"
#include "sim/simulate.hpp"

namespace tcsim {
namespace {

void expect_agreement(const char* machine_name) {
  const Machine m = find_machine(machine_name);
  const Suite suite = find_suite("tccg");
  for (std::size_t number : {7, 16, 17, 18, 22, 23, 24, 28, 29, 30, 34, 35, 36}) {
    const Contraction& c = suite.workloads[number - 1];
    SCOPED_TRACE(c.name());
    const Optimized o = optimize(c, m);
    const Traffic simulated = simulate(Plan(c, o.schedule), m).traffic;
    for (std::size_t l = 0; l < m.levels.size(); ++l) {
      const auto p =
          static_cast<double>(o.prediction.traffic.links[l].counted(m.accounting).value());
      const auto s = static_cast<double>(simulated.links[l].counted(m.accounting).value());
      EXPECT_NEAR(p / s, 1, 0.10) << m.link(LevelId{static_cast<int>(l)});
    }
  }
}

TEST(Tccg, Model_and_simulation_agree_on_e5_2680v4) { expect_agreement("e5-2680v4"); }
TEST(Tccg, Model_and_simulation_agree_on_i7_6700k) { expect_agreement("i7-6700k"); }

}  // namespace
}  // namespace tcsim
