// The prescription and the optimum over random chains and machines: they compute the chain, fit,
// move what is predicted, and no schedule of the family is below the bound.
#include "core/levels/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <vector>

#include "core/error.hpp"
#include "tests/core/levels/interpreter.hpp"
#include "tests/core/levels/random_levels.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim::levels {
namespace {

TEST(LevelPlans, OfRandomChainsFitAndMoveWhatIsPredicted) {
  std::mt19937_64 random(test::new_seed());
  RandomLevels draw(random);
  int planned = 0;
  std::vector<double> ratios;
  for (int trial = 0; trial < test::draws(80); ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + trial % 3, 7));
    const Hierarchy h = draw.hierarchy();
    LevelPlan prescribed;
    try {
      prescribed = prescribe(tree, h);
    } catch (const UnsupportedError&) {
      continue;  // tiles of one do not fit
    }
    ++planned;
    OptimumOptions options;
    options.most_programs = 150;
    const LevelOptimum best = optimum(tree, h, options);
    const auto right = fusion::results(tree, fusion::in_memory(tree));
    for (const LevelPlan& plan : {prescribed, best.plan}) {
      SCOPED_TRACE(to_text(tree, h, plan.node));
      EXPECT_TRUE(fits(h, plan.counts));
      EXPECT_EQ(simulate(tree, h, plan.node), plan.counts);
      LevelInterpreter run(tree, h);
      run.run(plan.node);
      EXPECT_EQ(run.results(), right);
      EXPECT_GE(plan.time().value(), best.bound.value() * (1 - 1e-9));
    }
    EXPECT_LE(best.plan.time().value(), prescribed.time().value() * (1 + 1e-9));
    ratios.push_back(prescribed.time() / best.plan.time());
    for (int other = 0; other < 40; ++other) {
      const LevelPlan any = draw.plan(tree, h);
      if (!fits(h, any.counts)) continue;
      EXPECT_GE(any.time().value(), best.bound.value() * (1 - 1e-9))
          << to_text(tree, h, any.node) << "bound " << best.bound.value();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(planned, test::found(40));
  std::ranges::sort(ratios);
  std::cout << planned << " planned, prescription above the optimum: median "
            << ratios[ratios.size() / 2] << ", worst " << ratios.back() << "\n";
}

// All ways to give the intermediates a home, one at a time.
TEST(LevelPlans, WithGivenHomesKeepThemAndTheirBound) {
  std::mt19937_64 random(test::new_seed());
  RandomLevels draw(random);
  int looked = 0;
  for (int trial = 0; trial < test::draws(12); ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 2, 6, false));
    const Hierarchy h = draw.hierarchy();
    std::optional<LevelOptimum> best;
    try {
      best = optimum(tree, h);
    } catch (const UnsupportedError&) {
      continue;
    }
    for (int home = 0; home <= h.links(); ++home) {
      OptimumOptions options;
      options.homes = unfused(tree, h);
      for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
        if (tree.arrays[a].is_intermediate()) (*options.homes)[a] = home;
      }
      SCOPED_TRACE(home);
      try {
        const LevelOptimum one = optimum(tree, h, options);
        ++looked;
        EXPECT_EQ(one.plan.homes, *options.homes);
        EXPECT_TRUE(fits(h, one.plan.counts));
        EXPECT_GE(one.plan.time().value(), best->bound.value() * (1 - 1e-9));
        EXPECT_LE(one.bound.value(), one.plan.time().value() * (1 + 1e-9));
        if (*options.homes == best->plan.homes) {
          EXPECT_LE(one.bound.value(), best->plan.time().value() * (1 + 1e-9));
        }
      } catch (const UnsupportedError&) {
        EXPECT_NE(*options.homes, best->plan.homes);
      }
    }
  }
  EXPECT_GE(looked, test::found(10));
}

// Those of other homes, each as its own search has it.
TEST(LevelPlans, HaveRivalsOfOtherHomesThatTakeLittleMore) {
  std::mt19937_64 random(test::new_seed());
  RandomLevels draw(random);
  int looked = 0;
  for (int trial = 0; trial < test::draws(16); ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 2, 6, false));
    const Hierarchy h = draw.hierarchy();
    try {
      const LevelPlan best = optimum(tree, h).plan;
      Seconds before = best.time() * (1 - 1e-3);  // searches differ by so much
      for (const LevelPlan& rival : rivals(tree, h, best, 0.5)) {
        ++looked;
        EXPECT_NE(rival.homes, best.homes);
        EXPECT_TRUE(fits(h, rival.counts));
        EXPECT_LE(rival.time().value(), 1.5 * best.time().value() * (1 + 1e-9));
        EXPECT_GE(rival.time(), before);
        before = rival.time();
        OptimumOptions options;
        options.homes = rival.homes;
        EXPECT_EQ(rival.node, optimum(tree, h, options).plan.node);
      }
    } catch (const UnsupportedError&) {
      continue;
    }
  }
  EXPECT_GE(looked, test::found(10));
}

// 90 places in two tiles are 45 each, whatever else has room.
TEST(LevelPlans, HaveEvenTiles) {
  const OperationTree tree = fusion::pair_of(90, 64, 64, 64);
  Hierarchy h;
  h.levels = {{"local", Bytes(56 * 64 * 8 * 3), 1, BytesPerSecond(1e9), Seconds(0)},
              {"disk", Bytes(0), 1, BytesPerSecond(0), Seconds(0)}};
  h.rate = FlopsPerSecond(1e10);
  const LevelPlan plan = optimum(tree, h).plan;
  int cut = 0;
  for (const auto& of_statement : tiles_of(tree, h, plan.node)) {
    for (std::size_t i = 0; i < tree.indices.size(); ++i) {
      const std::int64_t extent = tree.indices[i].extent, tile = of_statement.front()[i];
      const std::int64_t tiles = (extent + tile - 1) / tile;
      EXPECT_EQ(tile, (extent + tiles - 1) / tiles) << tree.indices[i].name;
      cut += tiles > 1;
    }
  }
  EXPECT_GE(cut, 1) << to_text(tree, h, plan.node);
}

// Every order and every whole tile of small contractions: none is quicker than the optimum by more
// than its gap, and none is below the bound.
TEST(LevelPlans, NoScheduleOfASmallContractionIsBelowTheBound) {
  std::mt19937_64 random(test::new_seed());
  RandomLevels draw(random);
  double worst = 1, sum = 0;
  int looked = 0;
  for (int trial = 0; trial < test::draws(40); ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1, 4, false));
    Hierarchy h = draw.hierarchy();
    while (h.links() > 2) h.levels.erase(h.levels.begin() + 1);
    for (Hierarchy::Level& l : h.levels) l.instances = std::min<std::int64_t>(l.instances, 2);
    h.levels.front().capacity = Bytes(8 * draw.pick(3, 40));
    const Homes homes = unfused(tree, h);
    double least = 1e300;
    std::vector<int> orders;
    const auto every = [&](const auto& self, const Shape& shape, Values& values,
                           std::size_t v) -> void {
      if (v == values.size()) {
        const Node node = with_values(tree, shape, values);
        const Counts counts = count(tree, h, node);
        if (fits(h, counts)) least = std::min(least, times(h, counts).total().value());
        return;
      }
      const std::int64_t most = most_of(tree, h, shape, values, static_cast<int>(v));
      for (values[v] = 1; values[v] <= most; ++values[v]) self(self, shape, values, v + 1);
      values[v] = 1;
    };
    const auto every_order = [&](const auto& self) -> void {
      const Shape shape = shape_of(tree, h, {0}, homes, {{}, orders});
      if (orders.size() < shape.orders.size()) {
        const int options = shape.orders[orders.size()].options;
        for (int o = 0; o < options; ++o) {
          orders.push_back(o);
          self(self);
          orders.pop_back();
        }
        return;
      }
      Values values(shape.variables.size(), 1);
      every(every, shape, values, 0);
    };
    double choices = 1;
    for (const OperationTree::Index& i : tree.indices) {
      choices *= std::pow(static_cast<double>(i.extent), 2 * h.links());
    }
    if (choices > 1e5) continue;
    every_order(every_order);
    if (least == 1e300) {
      EXPECT_THROW(optimum(tree, h), UnsupportedError);
      continue;
    }
    ++looked;
    const LevelOptimum best = optimum(tree, h);
    EXPECT_LE(best.bound.value(), least * (1 + 1e-9));
    EXPECT_GE(best.plan.time().value(), least * (1 - 1e-9));
    worst = std::max(worst, best.plan.time().value() / least);
    sum += best.plan.time().value() / least;
  }
  std::cout << looked << " looked at, found on average " << sum / looked
            << " of the best, at worst " << worst << "\n";
  EXPECT_LT(sum / looked, 1.15);
}

// There is nothing to choose then, and still no room.
TEST(LevelPlans, ExtentsOfOneThatDoNotFitAreRefused) {
  std::mt19937_64 random(1);
  const OperationTree tree =
      fusion::operation_tree(fusion::random_chain_program(random, 1, 1, false));
  RandomLevels draw(random);
  Hierarchy h = draw.hierarchy();
  while (h.links() > 2) h.levels.erase(h.levels.begin() + 1);
  for (Hierarchy::Level& l : h.levels) l.instances = 1;
  h.levels.back().capacity = Bytes(0);  // unlimited
  h.levels.front().capacity = Bytes(8);
  EXPECT_THROW(prescribe(tree, h), UnsupportedError);
  EXPECT_THROW(optimum(tree, h), UnsupportedError);
  h.levels.front().capacity = Bytes(64);
  EXPECT_TRUE(fits(h, optimum(tree, h).plan.counts));
}

TEST(LevelPlans, MoreMemoryAndFasterLinksTakeNoLonger) {
  std::mt19937_64 random(test::new_seed());
  RandomLevels draw(random);
  for (int trial = 0; trial < test::draws(30); ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 2, 12, false));
    const Hierarchy h = draw.hierarchy();
    try {
      const LevelOptimum base = optimum(tree, h);
      Hierarchy more = h;
      const auto l = static_cast<std::size_t>(draw.pick(0, h.links() - 1));
      if (trial % 2 == 0) {
        for (auto i = l; i + 1 < more.levels.size(); ++i) {
          more.levels[i].capacity = more.levels[i].capacity * 4;
        }
      } else {
        more.levels[l].bandwidth = 4.0 * more.levels[l].bandwidth;
      }
      // The same plan fits and is no slower, so no bound of the larger machine is above it.
      EXPECT_TRUE(fits(more, base.plan.counts));
      EXPECT_LE(optimum(tree, more).bound.value(), base.plan.time().value() * (1 + 1e-9));
    } catch (const UnsupportedError&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace tcsim::levels
