#include "core/fusion/partition.hpp"

#include <algorithm>
#include <utility>

namespace tcsim::fusion {

namespace {

// A subtree is not looked at where it promises less than this part of the best.
constexpr double part_worth_it = 1e-3;

struct Candidate {
  FusedSubtree subtree;
  double cuts = 0, cut_bounds = 0;  // of all that its cut-points need
  double least = 0;
};

Cheapest cheapest(const OperationTree& tree, int root, const std::vector<Cheapest>& known,
                  const SubtreeCosts& costs) {
  std::vector<Candidate> all;
  for (FusedSubtree& subtree : top_subtrees(tree, root)) {
    if (!costs.allowed(subtree)) continue;
    Candidate c{std::move(subtree)};
    for (int cut : c.subtree.cut_points) {
      c.cuts += known[static_cast<std::size_t>(cut)].seconds;
      c.cut_bounds += known[static_cast<std::size_t>(cut)].bound;
    }
    c.least = c.cut_bounds + costs.least(c.subtree);
    all.push_back(std::move(c));
  }
  std::ranges::stable_sort(all, {}, &Candidate::least);
  Cheapest best;
  for (Candidate& c : all) {
    if (c.least >= best.seconds * (1 - part_worth_it)) {
      best.bound = std::min(best.bound, c.least);
      continue;
    }
    const SubtreeCost cost = costs.cost(c.subtree, best.seconds - c.cuts);
    best.bound = std::min(best.bound, c.cut_bounds + cost.bound);
    if (c.cuts + cost.seconds >= best.seconds) continue;
    best.seconds = c.cuts + cost.seconds;
    best.subtree = std::move(c.subtree);
  }
  return best;
}

}  // namespace

std::vector<Cheapest> cheapest_subtrees(const OperationTree& tree, const SubtreeCosts& costs,
                                        const std::function<void(double)>& progress) {
  std::vector<Cheapest> best(tree.statements.size());
  for (std::size_t s = 0; s < best.size(); ++s) {
    best[s] = cheapest(tree, static_cast<int>(s), best, costs);
    if (progress) progress(static_cast<double>(s + 1) / static_cast<double>(best.size()));
  }
  return best;
}

std::vector<FusedSubtree> subtrees_of(const std::vector<Cheapest>& best, int root) {
  const std::optional<FusedSubtree>& subtree = best[static_cast<std::size_t>(root)].subtree;
  if (!subtree) return {};
  std::vector<FusedSubtree> all;
  for (int cut : subtree->cut_points) {
    for (FusedSubtree& before : subtrees_of(best, cut)) all.push_back(std::move(before));
  }
  all.push_back(*subtree);
  return all;
}

}  // namespace tcsim::fusion
