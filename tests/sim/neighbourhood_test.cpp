#include "sim/neighbourhood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/machine/toml.hpp"
#include "core/model/kernel_time.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/random_neighbours.hpp"
#include "sim/simulate.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

Seconds simulated_time(const Contraction& c, const Schedule& schedule, const Machine& m) {
  const Traffic traffic = simulate(Plan(c, schedule), m).traffic;
  return timing(traffic, kernel_time(c, schedule, m), m).total;
}

// A choice that is poor on purpose: its tiles are a few elements.
Incumbent poor(const Contraction& c, const Machine& m) {
  Tiling t = optimize(c, m).tiling;
  for (auto& tile : t.tiles) tile = {8, 6, 4};
  snap(c, common_line(m), t);
  return {t, {}};
}

void expect_neighbours(const Contraction& c, const Machine& m, const Incumbent& chosen,
                       std::size_t count) {
  const auto drawn = random_neighbours(c, m, chosen, count, 3);
  EXPECT_EQ(drawn.size(), count);
  std::set<std::string> schedules{to_line(build(c, m, chosen), c)};
  for (const Schedule& schedule : drawn) {
    EXPECT_TRUE(is_legal(schedule, c));
    if (!chosen.rewritten) {
      EXPECT_EQ(outside_family(c, schedule, m), "");
    }
    EXPECT_TRUE(schedules.insert(to_line(schedule, c)).second);
  }
  EXPECT_EQ(random_neighbours(c, m, chosen, count, 3), drawn);
  EXPECT_NE(random_neighbours(c, m, chosen, count, 4), drawn);
}

TEST(Neighbours, Are_legal_and_all_different) {
  const Contraction c = test::matmul(60, 50, 70);
  const Machine m = find_machine("i7-6700k");
  Incumbent chosen = optimize(c, m).incumbent();
  expect_neighbours(c, m, chosen, 50);
  chosen.rewritten = build(c, m, chosen.tiling);
  expect_neighbours(c, m, chosen, 20);
}

// The twin simulates all of them, in the order in which they are drawn.
TEST(Neighbourhood, Finds_the_best_of_all_without_simulating_all) {
  const Contraction c = test::matmul(96, 60, 80);
  Machine m = test::machine({{8, 4}, {32, 8}});
  for (const bool good : {false, true}) {
    const Incumbent chosen = good ? optimize(c, m).incumbent() : poor(c, m);
    const Neighbourhood n = neighbourhood(c, m, chosen, {.count = 40, .seed = 7});
    const Seconds by_itself = simulated_time(c, build(c, m, chosen), m);
    Seconds best = by_itself;
    for (const Schedule& s : random_neighbours(c, m, chosen, 40, 7)) {
      best = std::min(best, simulated_time(c, s, m));
    }
    EXPECT_EQ(n.neighbours, 40u);
    EXPECT_LE(n.simulated, 40u);
    EXPECT_EQ(n.chosen, by_itself);
    EXPECT_EQ(n.best, best);
    EXPECT_EQ(simulated_time(c, n.schedule, m), best);
    EXPECT_EQ(n.excess() > 0, n.best < n.chosen);
    EXPECT_TRUE(good || n.excess() > 0);
  }
  EXPECT_LT(neighbourhood(c, m, poor(c, m), {.count = 40, .seed = 7}).best,
            simulated_time(c, build(c, m, poor(c, m)), m));
}

// Where computing decides whatever the tiles, most neighbours need no simulation.
TEST(Neighbourhood, Simulates_none_that_cannot_be_better) {
  const Contraction c = test::matmul(96, 60, 80);
  Machine m = test::machine({{8, 4}, {32, 8}});
  for (Level& l : m.levels) l.bandwidth.value.value = 1e6;
  const Neighbourhood n = neighbourhood(c, m, optimize(c, m).incumbent(), {.count = 40, .seed = 7});
  EXPECT_LT(n.simulated, n.neighbours);
}

TEST(Neighbourhood, Stops_when_it_is_asked_to) {
  std::stop_source stop;
  stop.request_stop();
  const Contraction c = test::matmul(96, 60, 80);
  const Machine m = test::machine({{8, 4}});
  const Incumbent chosen = optimize(c, m).incumbent();
  EXPECT_ANY_THROW(neighbourhood(c, m, chosen, {.stop = stop.get_token()}));
}

}  // namespace
}  // namespace tcsim
