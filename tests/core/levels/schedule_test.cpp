// Do schedules over explicit levels compute their chains, and is what they move what count() says?
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

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
      EXPECT_EQ(counts.links[l].all[a].rows, ran.rows[l][a]) << l << " " << tree.arrays[a].name;
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
    const Counts searched = count_for_time(tree, h, plan.node);
    EXPECT_EQ(searched.high_water, plan.counts.high_water);
    EXPECT_EQ(times(h, searched).links, times(h, plan.counts).links);
    EXPECT_EQ(times(h, searched).arithmetic, times(h, plan.counts).arithmetic);
    shared += to_text(tree, h, plan.node).find(" over ") != std::string::npos;
    for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
      fused += tree.arrays[a].is_intermediate() && plan.homes[a] < h.links();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(shared, test::found(30));
  EXPECT_GE(fused, test::found(60));
}

// C[i, j] += A[i, k] * B[k, j] of 4, 6 and 5, by processes that share one loop, inside the hold of
// the array that has not its index: each of them has the array.
struct SharedInside {
  SharedInside(int index, std::int64_t tile, std::int64_t processes, int array, Kind kind) {
    h.levels = {{"local", Bytes(0), 4, BytesPerSecond(1), Seconds(0)},
                {"global", Bytes(0), 1, BytesPerSecond(1), Seconds(0)},
                {"disk", Bytes(0), 1, BytesPerSecond(0), Seconds(0)}};
    h.rate = FlopsPerSecond(1);
    Node node = Do{0};
    for (int a = 0; a < 3; ++a) {
      if (a != array) node = Hold{kind_of(a), a, 0, std::move(node)};
    }
    node = Hold{kind, array, 0, Node(Loop{index, tile, 0, processes, std::move(node)})};
    for (int a = 0; a < 3; ++a) node = Hold{kind_of(a), a, 1, std::move(node)};
    counts = count(tree, h, node);
    simulated = simulate(tree, h, node);
  }
  Kind kind_of(int a) const { return tree.array(a).producer >= 0 ? Kind::store : Kind::load; }
  OperationTree tree = fusion::operation_tree(parse_program(R"(
program product
dims i=4 j=6 k=5
f64 input A[i, k]  f64 input B[k, j]
f64 output C[i, j]
C[i, j] += A[i, k] * B[k, j]
)",
                                                            "test"));
  Hierarchy h;
  Counts counts, simulated;
};

TEST(LevelSchedules, ProcessesThatShareALoopInsideAHoldHaveTheTileEach) {
  const OperationTree tree = SharedInside(0, 1, 1, 0, Kind::load).tree;
  const auto index = [&](const std::string& name) {
    return static_cast<int>(std::ranges::find(tree.indices, name, &OperationTree::Index::name) -
                            tree.indices.begin());
  };
  const auto array = [&](const std::string& name) {
    return static_cast<int>(std::ranges::find(tree.arrays, name, &OperationTree::Array::name) -
                            tree.arrays.begin());
  };
  const auto a = static_cast<std::size_t>(array("A")), c = static_cast<std::size_t>(array("C"));
  // Three processes with two columns each: A of 160 bytes passes to each.
  const SharedInside columns(index("j"), 2, 3, array("A"), Kind::load);
  EXPECT_EQ(columns.counts, columns.simulated);
  EXPECT_EQ(columns.counts.links[0].all[a], (Moved{480, 0, 3, 0, 3}));
  EXPECT_EQ(columns.counts.links[0].busiest[a], (Moved{160, 0, 1, 0, 1}));
  // Four processes, of which three have columns.
  const SharedInside few(index("j"), 2, 4, array("A"), Kind::load);
  EXPECT_EQ(few.counts, few.simulated);
  EXPECT_EQ(few.counts.links[0].all[a], (Moved{480, 0, 3, 0, 3}));
  // Two processes with parts of the sum: each adds to C, of 192 bytes.
  const SharedInside sums(index("k"), 3, 2, array("C"), Kind::store);
  EXPECT_EQ(sums.counts, sums.simulated);
  EXPECT_EQ(sums.counts.links[0].all[c], (Moved{384, 384, 2, 2, 4}));
  EXPECT_EQ(sums.counts.links[0].busiest[c], (Moved{192, 192, 1, 1, 2}));
}

}  // namespace
}  // namespace tcsim::levels
