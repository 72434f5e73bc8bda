// Fused subtrees and loop nesting trees against Gao et al., sections 3, 4 and 6.
#include "core/fusion/subtrees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/fusion/partition.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/seed.hpp"

namespace tcsim::fusion {
namespace {

TEST(TopSubtrees, OfFourIndex) {
  // Section 5.3: one of T1, two of T2, three of T3, four of B.
  const OperationTree tree = four_index(10, 8);
  for (int root = 0; root < 4; ++root) {
    EXPECT_EQ(top_subtrees(tree, root).size(), static_cast<std::size_t>(root) + 1);
  }
  const FusedSubtree longest = top_subtrees(tree, 3).back();
  EXPECT_EQ(longest.chain, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(longest.cut_points.empty());
}

TEST(TopSubtrees, JoinTwoChainsAtTheRootAlone) {
  // Fig. 3: B reads T2 and T3; T2 reads T1 and T3 reads T4.
  const OperationTree tree = operation_tree(parse_program(R"(
program two
dims a=4 b=4 c=4 p=4 q=4 r=4 s=4
f64 input A[p, q]  f64 input C4[a, p]  f64 input C3[b, q]
f64 input D[r, s]  f64 input C1[r, c]  f64 input C2[s, b]
f64 intermediate T1[a, q]  f64 intermediate T2[a, b]
f64 intermediate T4[c, s]  f64 intermediate T3[c, b]
f64 output B[a, c]
T1[a, q] += A[p, q] * C4[a, p]
T2[a, b] += T1[a, q] * C3[b, q]
T4[c, s] += D[r, s] * C1[r, c]
T3[c, b] += C2[s, b] * T4[c, s]
B[a, c] += T2[a, b] * T3[c, b]
)",
                                                          "test"));
  const std::vector<FusedSubtree> all = top_subtrees(tree, 4);
  // B alone; with T2, T1; with T3, T4; with one or two of each side.
  EXPECT_EQ(all.size(), 1U + 2 + 2 + 4);
  EXPECT_EQ(all.back().chain, (std::vector<int>{0, 1, 4, 3, 2}));
  // No subtree holds both children of a statement that is not its root.
  for (const FusedSubtree& s : all) {
    for (int inside : s.chain) {
      if (inside == s.root) continue;
      int fused = 0;
      for (int child : tree.children(inside)) fused += std::ranges::count(s.chain, child) != 0;
      EXPECT_LE(fused, 1);
    }
  }
}

TEST(LoopTrees, OfFigureFour) {
  // Fig. 4: ((T1 (T2 T3)) B) of the four-index transform.
  const OperationTree tree = four_index(10, 8);
  std::set<std::string> texts;
  for (const LoopTree& t : maximally_fused(tree, whole_chain(tree))) {
    texts.insert(to_text(tree, t));
  }
  EXPECT_EQ(texts.size(), 5U);
  EXPECT_TRUE(texts.contains("{a,s: {r: T1 {b: T2 T3}} B}")) << *texts.begin();
}

TEST(LoopTrees, OfTableOne) {
  const OperationTree four = four_index(10, 8), three = ccsd(4, 6), six = ccsdt(4, 6);
  EXPECT_EQ(maximally_fused(four, whole_chain(four)).size(), 5U);
  EXPECT_EQ(maximally_fused(three, whole_chain(three)).size(), 2U);
  EXPECT_EQ(maximally_fused(six, whole_chain(six)).size(), 5U);
  EXPECT_EQ(all_structures(three, whole_chain(three)).size(), 69U);
  // Table I has 241 and 182. No reading has both: see the next test.
  EXPECT_EQ(all_structures(four, whole_chain(four)).size(), 235U);
  EXPECT_EQ(all_structures(six, whole_chain(six)).size(), 235U);
  for (const OperationTree& tree : {four, three, six}) {
    const std::vector<int> chain = whole_chain(tree);
    const StructureCount count = count_structures(tree, chain);
    EXPECT_EQ(count.all, static_cast<double>(all_structures(tree, chain).size()));
    EXPECT_EQ(count.maximally_fused, static_cast<double>(maximally_fused(tree, chain).size()));
  }
}

// Which statements have an index, for each index that two have or more, as a sorted list: all that
// a count of loop structures can see.
std::vector<std::vector<int>> shared_indices(const OperationTree& tree) {
  std::map<int, std::vector<int>> of;
  for (int s : whole_chain(tree)) {
    for (int i : tree.statement(s).indices) of[i].push_back(s);
  }
  std::vector<std::vector<int>> all;
  for (auto& [i, statements] : of) {
    if (statements.size() > 1) all.push_back(statements);
  }
  std::ranges::sort(all);
  return all;
}

TEST(LoopTrees, OfFourIndexAndCcsdtAreAsMany) {
  // The loops that statements share are the same in both, but for their names. So any way of
  // counting that sees the structure alone gives both the same total, and Table I's 241 and 182
  // cannot both be such a count of the expressions that it prints.
  EXPECT_EQ(shared_indices(four_index(10, 8)), shared_indices(ccsdt(4, 6)));
}

TEST(LoopTrees, AreReachedFromMaximallyFusedOnes) {
  std::mt19937_64 random(test::new_seed());
  int many = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const OperationTree tree =
        operation_tree(random_chain_program(random, 2 + trial % 3, 4, trial % 2 == 0));
    for (int root : tree.roots()) {
      for (const FusedSubtree& subtree : top_subtrees(tree, root)) {
        const std::vector<LoopTree> pruned = maximally_fused(tree, subtree.chain);
        const std::vector<LoopTree> all = all_structures(tree, subtree.chain);
        EXPECT_EQ(count_structures(tree, subtree.chain).all, static_cast<double>(all.size()));
        for (const LoopTree& t : all) {
          const LoopTree from = fused_like(tree, t);
          ASSERT_NE(std::ranges::find(pruned, from), pruned.end()) << to_text(tree, t);
          ASSERT_EQ(sunk(from, t), t) << to_text(tree, from) << " to " << to_text(tree, t);
          ++many;
        }
      }
    }
  }
  EXPECT_GT(many, 100);
}

// Gao et al., section 5.3 and Fig. 8: the four-index transform with costs that they made up, by the
// subtree's root and how many statements it has.
TEST(Partition, OfSection53) {
  const OperationTree tree = four_index(10, 8);
  const std::vector<std::vector<double>> made_up{
      {100}, {150, 200}, {200, 250, 300}, {250, 300, 350, 500}};
  const auto cost = [&](const FusedSubtree& s) {
    return made_up[static_cast<std::size_t>(s.root)][s.chain.size() - 1];
  };
  SubtreeCosts costs;
  costs.allowed = [](const FusedSubtree&) { return true; };
  costs.least = [](const FusedSubtree&) { return 0.0; };
  costs.cost = [&](const FusedSubtree& s, double) { return SubtreeCost{cost(s), cost(s)}; };
  const std::vector<Cheapest> best = cheapest_subtrees(tree, costs);
  EXPECT_EQ(best[0].seconds, 100);
  EXPECT_EQ(best[1].seconds, 200);
  EXPECT_EQ(best[2].seconds, 300);
  EXPECT_EQ(best[3].seconds, 450);
  EXPECT_EQ(best[3].bound, 450);
  const std::vector<FusedSubtree> parts = subtrees_of(best, 3);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].chain, std::vector<int>{0});
  EXPECT_EQ(parts[1].chain, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(parts[1].cut_points, std::vector<int>{0});
}

}  // namespace
}  // namespace tcsim::fusion
