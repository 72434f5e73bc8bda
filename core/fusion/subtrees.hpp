// Fused subtrees of an operation tree: sets of statements whose loops are fused, so that what they
// hand to one another stays in memory (Gao et al., sections 3 and 4).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/fusion/operation_tree.hpp"

namespace tcsim::fusion {

struct FusedSubtree {
  // The contraction chain: neighbours make and read one intermediate. It has one end, or the root
  // stands inside it where two chains join.
  std::vector<int> chain;
  int root = 0;
  std::vector<int> cut_points;  // statements that make what it reads from disk, ascending

  bool operator==(const FusedSubtree&) const = default;
};

// All fused subtrees with this root (Algorithm 1). A statement is fused above only where at most
// one of what it reads is fused: the sums of a statement between two fused ones would have to be
// outside everything.
std::vector<FusedSubtree> top_subtrees(const OperationTree& tree, int root);

// Loops over indices around parts that run one after another: the loop nesting tree. A leaf is a
// statement, with the rest of its indices. Loops of a node may be exchanged.
struct LoopTree {
  IndexSet indices;
  std::vector<LoopTree> parts;  // none of a leaf
  int statement = -1;           // of a leaf

  bool is_leaf() const { return parts.empty(); }
  bool operator==(const LoopTree&) const = default;
};

// Statements in the order in which a tree has them, and the number of nodes of a tree.
std::vector<int> leaves_of(const LoopTree& tree);

// The maximally fused structures of a contraction chain, one for each way to put it in parentheses
// (Algorithm 2): as many as the Catalan number of its length less one. Loops of its tree are
// indices that all statements inside have.
std::vector<LoopTree> maximally_fused(const OperationTree& tree, const std::vector<int>& chain);
// Of each block of the chain only the `keep` that have the least score.
std::vector<LoopTree> maximally_fused(const OperationTree& tree, const std::vector<int>& chain,
                                      std::size_t keep,
                                      const std::function<std::int64_t(const LoopTree&)>& score);

// All structures: each inner node has at least one loop, and two or more parts, which are
// consecutive blocks of the chain.
std::vector<LoopTree> all_structures(const OperationTree& tree, const std::vector<int>& chain);

// How many all_structures() are, and how many of them are maximally fused: Table I of Gao et al.
// The first is infinite where it is not counted, for more than 12 shared loops.
struct StructureCount {
  double all = 0, maximally_fused = 0;
};
StructureCount count_structures(const OperationTree& tree, const std::vector<int>& chain);

// The maximally fused structure that a structure comes from by sinking loops (Algorithm 3, then 2).
LoopTree fused_like(const OperationTree& tree, const LoopTree& structure);

// Every loop moved from a node to all its parts until the loops that each two statements share are
// those that they share in `like`; nodes without loops dissolve (Lemma 2).
LoopTree sunk(const LoopTree& structure, const LoopTree& like);

// "{a,s: {r: T1 T2} T3}"
std::string to_text(const OperationTree& tree, const LoopTree& structure);

}  // namespace tcsim::fusion
