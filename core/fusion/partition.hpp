// Which fused subtrees an operation tree is cut into, by dynamic programming from its leaves to its
// roots (Gao et al., Algorithm 4).
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/fusion/subtrees.hpp"

namespace tcsim::fusion {

// What a fused subtree takes by itself, without what its cut-points need; no way to do it takes
// less than `bound`. Infinite where it cannot be done.
struct SubtreeCost {
  double seconds = std::numeric_limits<double>::infinity();
  double bound = std::numeric_limits<double>::infinity();
};

struct SubtreeCosts {
  std::function<bool(const FusedSubtree&)> allowed;
  std::function<double(const FusedSubtree&)> least;  // a bound that is known at once
  // `cut_off`: what takes as long or longer is of no use, and may be left out.
  std::function<SubtreeCost(const FusedSubtree&, double cut_off)> cost;
};

// The best for all that a statement needs: the subtree with this root, and those of its cut-points.
struct Cheapest {
  std::optional<FusedSubtree> subtree;  // none where it cannot be done
  double seconds = std::numeric_limits<double>::infinity();
  double bound = std::numeric_limits<double>::infinity();
};

// By statement. `progress` may be empty.
std::vector<Cheapest> cheapest_subtrees(const OperationTree& tree, const SubtreeCosts& costs,
                                        const std::function<void(double share)>& progress = {});

// The subtrees of a root, each behind those that it needs; none where it cannot be done.
std::vector<FusedSubtree> subtrees_of(const std::vector<Cheapest>& cheapest, int root);

}  // namespace tcsim::fusion
