// Do schedules over explicit levels compute their chains, and is what they move what count() says?
#include <gtest/gtest.h>

#include <random>

#include "core/levels/plan.hpp"
#include "tests/core/levels/interpreter.hpp"
#include "tests/core/levels/random_levels.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim::levels {
namespace {

// Elements as bytes, and nothing that count() says is missing.
void expect_moved(const OperationTree& tree, const LevelInterpreter& ran, const Counts& counts) {
  for (std::size_t l = 0; l < counts.links.size(); ++l) {
    for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
      EXPECT_EQ(counts.links[l].all[a].in, 8 * ran.in[l][a]) << l << " " << tree.arrays[a].name;
      EXPECT_EQ(counts.links[l].all[a].out, 8 * ran.out[l][a]) << l << " " << tree.arrays[a].name;
    }
  }
}

TEST(LevelSchedules, OfRandomChainsComputeThemAndMoveWhatIsPredicted) {
  std::mt19937_64 random(test::new_seed());
  RandomLevels draw(random);
  int shared = 0, fused = 0;
  for (int trial = 0; trial < test::draws(300); ++trial) {
    const OperationTree tree =
        fusion::operation_tree(fusion::random_chain_program(random, 1 + trial % 4, 5));
    const Hierarchy h = draw.hierarchy();
    const LevelPlan plan = draw.plan(tree, h);
    SCOPED_TRACE(to_text(tree, h, plan.node));
    LevelInterpreter run(tree, h);
    run.run(plan.node);
    EXPECT_EQ(run.results(), fusion::results(tree, fusion::in_memory(tree)));
    expect_moved(tree, run, plan.counts);
    EXPECT_EQ(simulate(tree, h, plan.node), plan.counts);
    shared += to_text(tree, h, plan.node).find(" over ") != std::string::npos;
    for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
      fused += tree.arrays[a].is_intermediate() && plan.homes[a] < h.links();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(shared, test::draws(30));
  EXPECT_GE(fused, test::draws(60));
}

}  // namespace
}  // namespace tcsim::levels
