// What a rehearsal counts is what a run does, and what it chooses from are ways that fit. As one
// process and, started by mpirun, as several.
#include "chains/levels/rehearsal.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "tests/chains/levels/level_runs.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/core/levels/random_levels.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

using fusion::Range;
using fusion::Ranges;
using levels::Node;

// Tile by tile, those of the first process.
class FirstProcess {
 public:
  explicit FirstProcess(const OperationTree& tree)
      : tree_(tree), ranges_(fusion::all_of(tree)), held_(tree.arrays.size()) {}

  void run(const Node& node) {
    if (const auto* loop = std::get_if<levels::Loop>(&node.is)) {
      Range& range = ranges_[static_cast<std::size_t>(loop->index)];
      const Range around = range;
      for (std::int64_t i = 0, tile = 0; i < around.size; i += loop->tile, ++tile) {
        if (tile % loop->processes != 0) continue;
        range = {around.begin + i, std::min(loop->tile, around.size - i)};
        run(*loop->body);
      }
      range = around;
    } else if (const auto* parts = std::get_if<levels::Sequence>(&node.is)) {
      for (const Node& part : parts->parts) run(part);
    } else if (const auto* hold = std::get_if<levels::Hold>(&node.is)) {
      Ranges& held = held_[static_cast<std::size_t>(hold->array)];
      const Ranges before = std::exchange(held, ranges_);
      run(*hold->body);
      held_[static_cast<std::size_t>(hold->array)] = before;
    } else {
      const int s = std::get<levels::Do>(node.is).statement;
      ++times[fusion::leaf_at(tree_, s, ranges_, held_).leaf];
    }
  }
  std::map<fusion::Leaf, double> times;

 private:
  const OperationTree& tree_;
  Ranges ranges_;
  std::vector<Ranges> held_;
};

TEST(Rehearsal, Counts_the_tiles_of_the_first_process) {
  std::mt19937_64 random(test::new_seed());
  levels::RandomLevels draw(random);
  std::size_t shapes = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + trial % 3, 9));
    Hierarchy h = draw.hierarchy();
    for (auto& l : h.levels) l.capacity = Bytes(0);
    const LevelPlan plan = draw.plan(tree, h);
    SCOPED_TRACE(to_text(tree, h, plan.node));
    FirstProcess first(tree);
    first.run(plan.node);
    std::map<fusion::Leaf, double> counted;
    double points = 0;
    for (const LeafRuns& runs : leaf_runs(tree, plan.node)) {
      counted[runs.leaf] += runs.times;
      double of_one = 1;
      for (std::int64_t size : runs.leaf.tile) of_one *= static_cast<double>(size);
      points += runs.times * of_one;
    }
    EXPECT_EQ(counted, first.times);
    double predicted = 0;
    for (const auto& s : plan.counts.statements) {
      predicted += static_cast<double>(s.multiply_adds);
    }
    EXPECT_EQ(points, predicted);
    shapes += counted.size();
  }
  EXPECT_GE(shapes, 80U);
}

// All of k at once, and in two halves: those after the first one are added.
TEST(Rehearsal, Knows_where_sums_begin) {
  const OperationTree tree = fusion::pair_of(8);  // T = A C, B = T D
  const Node whole = levels::Sequence{{levels::Do{0}, levels::Do{1}}};
  for (const LeafRuns& runs : leaf_runs(tree, whole)) {
    EXPECT_TRUE(runs.begins);
    EXPECT_EQ(runs.times, 1);
  }
  bool found = false;
  for (int i : tree.statement(0).indices) {
    if (fusion::contains(tree.array(tree.statement(0).out).set(), i)) continue;
    found = true;
    const auto runs = leaf_runs(tree, Node(levels::Loop{i, 4, 0, 1, Node(levels::Do{0})}));
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs.front().times, 2);
    EXPECT_FALSE(runs.front().begins);
  }
  EXPECT_TRUE(found);
}

TEST_F(LevelRuns, Rehearsed_are_the_plan_and_rivals_that_fit_and_all_processes_agree) {
  const OperationTree tree = fusion::pair_of(48);
  Hierarchy h = InTwoParts(team_).h;
  h.levels[0].capacity = Bytes(48 * 48 * 8);
  h.levels[1].capacity = Bytes(48 * 48 * 8 * 4 * team_.size());
  for (auto& level : h.levels) level.bandwidth = BytesPerSecond(1e12), level.transfer = Seconds(0);
  const LevelPlan plan = levels::optimum(tree, h).plan;
  RehearseOptions options;
  options.within = 10;
  int shown = 0;
  options.progress = [&](double share) { shown += share >= 0 && share < 1; };
  const std::vector<Rehearsed> tried = rehearse(tree, h, plan, machine_, team_, options);
  ASSERT_GE(tried.size(), 2U);
  EXPECT_GE(shown, 2);
  EXPECT_EQ(tried.front().plan.node, plan.node);
  for (const Rehearsed& one : tried) {
    EXPECT_GT(one.arithmetic, Seconds(0));
    EXPECT_LT(one.arithmetic, Seconds(60));
    EXPECT_DOUBLE_EQ(
        one.time().value(),
        one.plan.time().value() - one.plan.times.arithmetic.value() + one.arithmetic.value());
    EXPECT_TRUE(fits(h, one.plan.counts));
    const auto nanoseconds = static_cast<std::int64_t>(1e9 * one.arithmetic.value() + 0.5);
    for (const auto& of : team_.gathered({nanoseconds})) EXPECT_EQ(of.front(), nanoseconds);
    // Each of them runs.
    empty();
    const LevelRun ran = run(tree, h, one.plan, this->options());
    EXPECT_EQ(differences(tree, h, one.plan.counts, ran.counts), "");
  }
  // Nothing to choose from: nothing is tried.
  options.within = -0.5;
  const std::vector<Rehearsed> alone = rehearse(tree, h, plan, machine_, team_, options);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone.front().time(), plan.time());
}

}  // namespace
}  // namespace tcsim::chains
