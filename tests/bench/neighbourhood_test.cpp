// What regret lets race.
#include <gtest/gtest.h>

#include <set>

#include "bench/regret.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/suite.hpp"

namespace tcsim::bench {
namespace {

class Neighbourhood : public testing::Test {
 protected:
  const Contraction contraction_ = find_suite("tccg").workloads[28];
  const Machine machine_ = find_machine("i9-7940x");
  const Tiling pick_ = optimize(contraction_, machine_).tiling;
};

TEST_F(Neighbourhood, Schedules_are_legal_and_differ_from_the_pick_and_each_other) {
  std::vector<std::string> levels;
  for (const Level& l : machine_.levels) levels.push_back(l.name);
  std::set<std::string> schedules{to_line(build(contraction_, machine_, pick_), contraction_)};
  const auto all = neighbourhood(contraction_, machine_, pick_, 100);
  for (const Neighbour& n : all) {
    const Schedule s = build(contraction_, machine_, n.tiling);
    EXPECT_NO_THROW(tcsim::check(s, contraction_, levels, n.difference));
    EXPECT_TRUE(schedules.insert(to_line(s, contraction_)).second) << n.difference;
  }
  EXPECT_GT(all.size(), 12u);
}

TEST_F(Neighbourhood, The_first_few_are_of_every_kind) {
  const auto some = neighbourhood(contraction_, machine_, pick_, 12);
  ASSERT_EQ(some.size(), 12u);
  const auto any = [&](const std::string& beginning) {
    for (const Neighbour& n : some) {
      if (n.difference.starts_with(beginning)) return true;
    }
    return false;
  };
  for (const char* kind : {"k of ", "kernel ", "outermost ", "groups ", "blocks of BLIS"}) {
    EXPECT_TRUE(any(kind)) << kind;
  }
}

TEST_F(Neighbourhood, A_difference_says_what_the_tiling_has) {
  for (const Neighbour& n : neighbourhood(contraction_, machine_, pick_, 100)) {
    if (n.difference.starts_with("kernel ")) {
      EXPECT_NE(n.tiling.kernel, pick_.kernel);
    } else if (n.difference.starts_with("groups ")) {
      EXPECT_NE(n.tiling.groups, pick_.groups);
    } else if (n.difference.starts_with("k of L2 ")) {
      const std::string numbers =
          " " + std::to_string(pick_.tiles[1][2]) + " to " + std::to_string(n.tiling.tiles[1][2]);
      EXPECT_TRUE(n.difference.ends_with(numbers)) << n.difference;
    }
  }
}

}  // namespace
}  // namespace tcsim::bench
