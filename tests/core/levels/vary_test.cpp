// Machines that differ by several knobs: times worked by hand, the front of all pairs, answers that
// each machine's own search finds.
#include "core/levels/vary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "core/stop.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim::levels {
namespace {

Machine cluster_with(const std::vector<std::string>& knobs) {
  Machine m = find_machine("gpu-cluster-node");
  for (const std::string& k : knobs) m = override_knob(m, k).machine;
  return m;
}

std::vector<KnobRange> ranges_of(const Machine& m, const std::vector<std::string>& texts) {
  std::vector<KnobRange> ranges;
  for (const std::string& t : texts) ranges.push_back(parse_knob_range(m, t, 5, Ends::as_given));
  return ranges;
}

// 384 MB of tensors, which pass the disk once; with 100 kB a process moves 1.27 GB over the
// network.
struct Product {
  OperationTree tree = fusion::operation_tree(parse_program(R"(
program product
dims i=4000 j=4000 k=4000
f64 input A[i, k]  f64 input B[k, j]
f64 output C[i, j]
C[i, j] += A[i, k] * B[k, j]
)",
                                                            "test"));
  Machine machine = cluster_with(
      {"local.capacity=100kB", "core.efficiency=1", "global.transfer=0", "disk.transfer=0"});
};

TEST(LevelGrids, HaveTheTimesAndTheCrossoverOfEveryLine) {
  const Product p;
  const LevelGrid grid = vary(p.tree, p.machine,
                              ranges_of(p.machine, {"disk.bandwidth=0.1GB/s,0.2GB/s",
                                                    "global.bandwidth=0.1GB/s..2GB/s:3"}));
  EXPECT_TRUE(grid.complete);
  ASSERT_EQ(grid.points.size(), 6U);
  double moved = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const LevelPoint& at = grid.points[i];
    const double disk = i < 3 ? 1e8 : 2e8;
    EXPECT_NEAR(at.values[0], disk, 1);
    EXPECT_NEAR(at.values[1], 1e8 * std::pow(20, static_cast<double>(i % 3) / 2), 1);
    ASSERT_TRUE(at.answer);
    const LevelPlan& plan = at.answer->plan;
    EXPECT_NEAR(plan.times.links[1].value(), 384e6 / disk, 1e-9);
    moved = static_cast<double>(plan.counts.links[0].busiest_sum().bytes());
    EXPECT_NEAR(plan.times.links[0].value(), moved / at.values[1], 1e-9);
    EXPECT_EQ(at.state, state_text(p.tree, hierarchy(p.machine, Bytes(8)), plan));
    EXPECT_EQ(at.state, at.values[1] * 384e6 < moved * disk ? "local-global" : "global-disk");
  }
  // Each disk has its own; along the disks the network decides for both or for none, but where it
  // is in the middle.
  std::vector<LevelCrossover> along;
  for (const LevelCrossover& c : grid.crossovers) {
    if (c.knob == 1) along.push_back(c);
  }
  ASSERT_EQ(along.size(), 2U);
  for (std::size_t d = 0; d < 2; ++d) {
    const double disk = d == 0 ? 1e8 : 2e8;
    EXPECT_EQ(along[d].from, "local-global");
    EXPECT_EQ(along[d].to, "global-disk");
    EXPECT_NEAR(along[d].values[0], disk, 1);
    EXPECT_NEAR(along[d].values[1] / (moved * disk / 384e6), 1, 0.011);
  }
}

// At least as good in everything, and not an equal one that comes later.
bool covers(const std::vector<double>& a, const std::vector<double>& b, bool earlier) {
  bool as_good = true;
  for (std::size_t i = 0; i < a.size(); ++i) as_good &= a[i] <= b[i];
  return as_good && (earlier || a != b);
}

TEST(LevelGrids, MarkTheFrontThatAllPairsGive) {
  std::mt19937_64 random(test::new_seed());
  for (int trial = 0; trial < std::max(2, test::draws(6)); ++trial) {
    const OperationTree tree = fusion::operation_tree(fusion::random_chain_program(random, 2, 9));
    const Machine m = cluster_with({"local.capacity=2KiB", "global.capacity=8KiB"});
    const LevelGrid grid =
        vary(tree, m,
             ranges_of(m, {"local.capacity=0.25x,0.5x,1x", "global.transfer=0.1x,1x,10x",
                           "global.bandwidth=0.1x,1x"}));
    ASSERT_EQ(grid.points.size(), 18U);
    std::vector<std::vector<double>> numbers;
    for (const LevelPoint& p : grid.points) {
      // Short transfers cost more than long ones.
      numbers.push_back(
          p.answer
              ? std::vector<double>{std::round(std::log(p.answer->plan.time().value()) / 0.001),
                                    p.values[0], -p.values[1], p.values[2]}
              : std::vector<double>{});
    }
    int front = 0;
    for (std::size_t i = 0; i < grid.points.size(); ++i) {
      bool covered = numbers[i].empty();
      for (std::size_t j = 0; j < grid.points.size() && !covered; ++j) {
        covered = j != i && !numbers[j].empty() && covers(numbers[j], numbers[i], j < i);
      }
      EXPECT_EQ(grid.points[i].front, !covered) << i;
      front += grid.points[i].front;
    }
    EXPECT_GE(front, 1);
  }
}

TEST(LevelGrids, AreNotSlowerThanEachMachinesOwnSearchAndBetterMachinesTakeNoLonger) {
  std::mt19937_64 random(test::new_seed());
  int compared = 0;
  for (int trial = 0; trial < std::max(2, test::draws(6)); ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + trial % 3, 9));
    const Machine m = cluster_with({"local.capacity=1KiB", "global.capacity=4KiB"});
    const LevelGrid grid = vary(
        tree, m, ranges_of(m, {"local.capacity=0.25x,1x,2x", "global.bandwidth=0.01x,1x,100x"}));
    for (std::size_t i = 0; i < grid.points.size(); ++i) {
      const LevelPoint& p = grid.points[i];
      const Machine there =
          with_knob(with_knob(m, grid.knobs[0], p.values[0]), grid.knobs[1], p.values[1]);
      const Hierarchy h = hierarchy(there, Bytes(8));
      std::optional<LevelOptimum> own;
      try {
        own = optimum(tree, h);
      } catch (const UnsupportedError&) {
        // Nothing fits.
      }
      ASSERT_EQ(p.answer.has_value(), own.has_value());
      if (!own) {
        EXPECT_EQ(p.state, "nothing fits");
        continue;
      }
      ++compared;
      const double time = p.answer->plan.time().value();
      EXPECT_LE(time, own->plan.time().value() * (1 + 1e-9));
      EXPECT_GE(p.answer->gap(), 0);
      for (int l = 0; l < h.links(); ++l) {
        EXPECT_LE(p.answer->plan.counts.high_water[static_cast<std::size_t>(l)],
                  h.level(l).capacity);
      }
      EXPECT_EQ(simulate(tree, h, p.answer->plan.node), p.answer->plan.counts);
      for (const std::size_t before : {i % 3 > 0 ? i - 1 : i, i >= 3 ? i - 3 : i}) {
        const LevelPoint& worse = grid.points[before];
        if (!worse.answer) continue;
        EXPECT_LE(time, worse.answer->plan.time().value() * (1 + 1e-9));
      }
    }
  }
  EXPECT_GE(compared, test::found(12));
}

TEST(LevelGrids, KnowProcessesAndMachinesThatCannotBe) {
  const Product p;
  const LevelGrid grid =
      vary(p.tree, p.machine,
           ranges_of(p.machine, {"global.processes=4,16", "local.capacity=1GB,64GB"}));
  ASSERT_EQ(grid.points.size(), 4U);
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) {
    EXPECT_FALSE(grid.points[i].is_machine);
    EXPECT_NE(grid.points[i].state.find("is smaller than local inside it"), std::string::npos);
  }
  // A quarter of the processes has four times the arithmetic.
  ASSERT_TRUE(grid.points[0].answer && grid.points[2].answer);
  EXPECT_NEAR(
      grid.points[0].answer->plan.times.arithmetic / grid.points[2].answer->plan.times.arithmetic,
      4, 1e-9);
  for (const auto& bad :
       {std::vector<std::string>{"local.capacity=1x,2x", "local.capacity=1x,4x"},
        std::vector<std::string>{"local.capacity=1x..2x:200", "global.bandwidth=1x..2x:200"}}) {
    EXPECT_THROW(vary(p.tree, p.machine, ranges_of(p.machine, bad)), UsageError);
  }
}

TEST(LevelGrids, HaveTheFrontOfACost) {
  const Product p;
  VaryOptions options;
  options.cost = [](const Machine& m) {
    return m.levels.front().capacity.value == Bytes(100000) ? 1 : 2;
  };
  const std::vector<KnobRange> ranges = ranges_of(p.machine, {"local.capacity=100kB,200kB,400kB"});
  const LevelGrid grid = vary(p.tree, p.machine, ranges, options);
  // The cheap one, and of those that cost the same the fastest.
  std::vector<bool> front;
  for (const LevelPoint& at : grid.points) front.push_back(at.front);
  EXPECT_EQ(front, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(grid.points[1].cost, 2);
}

TEST(LevelGrids, KeepWhatThereIsWhenTheyAreStopped) {
  const Product p;
  std::stop_source source;
  const StopScope scope(source.get_token());
  VaryOptions options;
  int shown = 0;
  options.search.progress = [&](double) {
    if (++shown == 2) source.request_stop();
  };
  const LevelGrid grid =
      vary(p.tree, p.machine,
           ranges_of(p.machine, {"global.bandwidth=0.1x,1x", "disk.bandwidth=0.1x,1x"}), options);
  EXPECT_FALSE(grid.complete);
  EXPECT_EQ(grid.points.size(), 2U);
  EXPECT_TRUE(grid.points[1].front);
}

}  // namespace
}  // namespace tcsim::levels
