#include "core/fusion/fuse.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/fusion/partition.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"

namespace tcsim::fusion {

namespace {

// A structure is not looked at where it promises less than this part of the best.
constexpr double structure_worth_it = 1e-3;

// Structures of each block, where not all are looked at.
constexpr std::size_t kept_structures = 8;
// Geometric programs for each structure at first, and how many are then looked at in full.
constexpr int quick_programs = 60;
constexpr std::size_t looked_at_again = 2;

class Optimizer {
 public:
  Optimizer(const OperationTree& tree, const FuseOptions& options)
      : tree_(tree), limits_(options.limits), all_up_to_(options.all_structures_up_to) {}

  // Of the subtrees that may be used.
  std::vector<Cheapest> run(std::function<bool(const FusedSubtree&)> allowed,
                            const std::function<void(double)>& progress) {
    SubtreeCosts costs;
    costs.allowed = std::move(allowed);
    costs.least = [&](const FusedSubtree& s) {
      return compulsory(tree_, s.chain, limits_.costs).value();
    };
    costs.cost = [&](const FusedSubtree& s, double cut_off) {
      const Evaluated& found = evaluated(s, cut_off);
      SubtreeCost cost{std::numeric_limits<double>::infinity(), found.bound};
      if (found.part) cost.seconds = found.part->placement.time.value();
      return cost;
    };
    return cheapest_subtrees(tree_, costs, progress);
  }

  // What begins at a root, those that it needs before it.
  FusedProgram program(const std::vector<Cheapest>& best, const std::vector<int>& roots) const {
    FusedProgram made;
    double bound = 0;
    for (int root : roots) {
      const std::vector<FusedSubtree> subtrees = subtrees_of(best, root);
      if (subtrees.empty()) refuse(root);
      for (const FusedSubtree& s : subtrees) {
        made.parts.push_back(*known_.at(s.chain).part);
        if (s.root != root) made.cut_points.push_back(s.root);
      }
      bound += best[static_cast<std::size_t>(root)].bound;
    }
    InOrder parts;
    for (const FusedPart& part : made.parts) parts.parts.push_back(*part.placement.node);
    made.node = parts.parts.size() == 1 ? parts.parts.front() : FusedNode(std::move(parts));
    made.traffic = traffic(tree_, made.node, limits_.buffering);
    made.time = limits_.costs.all(made.traffic);
    made.bound = Seconds(std::min(bound, made.time.value()));
    return made;
  }

 private:
  // The best structure of a subtree.
  struct Evaluated {
    std::optional<FusedPart> part;
    double bound = std::numeric_limits<double>::infinity();
  };
  // Statements alone and trees without cut-points are asked for again, so those are looked at
  // whatever they are compared with.
  const Evaluated& evaluated(const FusedSubtree& subtree, double cut_off) {
    const bool kept =
        subtree.chain.size() == 1 || (subtree.cut_points.empty() && tree_.parent(subtree.root) < 0);
    const auto known = known_.find(subtree.chain);
    if (kept && known != known_.end()) return known->second;
    if (kept) cut_off = std::numeric_limits<double>::infinity();
    Evaluated& best = known_[subtree.chain] = {};
    const double least = compulsory(tree_, subtree.chain, limits_.costs).value();
    const std::vector<LoopTree> all = structures_of(subtree.chain);
    if (all.size() > 1 && subtree.chain.size() > all_up_to_) best.bound = least;
    // All of them for a short while, then the best ones for longer.
    std::vector<Placement> placed(all.size());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (least >= cut_off * (1 - structure_worth_it)) {
        best.bound = std::min(best.bound, least);
        break;
      }
      placed[i] = look_at(all[i], cut_off, quick_programs);
      order.push_back(i);
      if (placed[i].node) cut_off = std::min(cut_off, placed[i].time.value());
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return placed[i].bound.value(); });
    for (std::size_t rank = 0; rank < std::min(order.size(), looked_at_again); ++rank) {
      Placement& first = placed[order[rank]];
      if (first.bound.value() >= cut_off * (1 - structure_worth_it)) break;
      Placement again = look_at(all[order[rank]], cut_off, usual_programs);
      first.bound = std::max(first.bound, again.bound);
      if (!again.node || again.time >= first.time) continue;
      first.node = std::move(again.node);
      first.traffic = std::move(again.traffic);
      first.time = again.time;
      cut_off = std::min(cut_off, first.time.value());
    }
    for (std::size_t i : order) {
      best.bound = std::min(best.bound, placed[i].bound.value());
      const bool better =
          placed[i].node && (!best.part || placed[i].time < best.part->placement.time);
      if (better) best.part = {subtree, all[i], placed[i]};
    }
    return best;
  }

  Placement look_at(const LoopTree& structure, double cut_off, int programs) {
    StopScope::heed();
    return place(tree_, structure, limits_, Seconds(cut_off), programs);
  }

  // All maximally fused ones; of a long chain those that take least memory with tiles of one, as of
  // each part of it.
  std::vector<LoopTree> structures_of(const std::vector<int>& chain) const {
    if (chain.size() <= all_up_to_) return maximally_fused(tree_, chain);
    const auto memory = [&](const LoopTree& t) {
      return least_memory(tree_, t, limits_.buffering).value();
    };
    return maximally_fused(tree_, chain, kept_structures, memory);
  }

  [[noreturn]] void refuse(int root) const {
    throw UnsupportedError(tree_.array(tree_.statement(root).out).name,
                           "no tiles fit into " + to_text(limits_.memory) + " of memory",
                           "give at least " + to_text(least_memory(tree_, limits_.buffering)) +
                               ", with which tiles are of one element");
  }

  const OperationTree& tree_;
  const Limits limits_;
  const std::size_t all_up_to_;
  std::map<std::vector<int>, Evaluated> known_;  // by chain
};

bool any(const FusedSubtree&) { return true; }
bool alone(const FusedSubtree& s) { return s.chain.size() == 1; }

}  // namespace

Bytes least_memory(const OperationTree& tree, Buffering buffering) {
  Bytes least;
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    const LoopTree one{tree.statement(s).indices, {}, s};
    least = std::max(least, least_memory(tree, one, buffering));
  }
  return least;
}

FusedProgram chosen_program(const OperationTree& tree, const FuseOptions& options) {
  Optimizer optimizer(tree, options);
  return optimizer.program(optimizer.run(any, options.progress), tree.roots());
}

FusedProgram unfused_program(const OperationTree& tree, const Limits& limits) {
  Optimizer optimizer(tree, FuseOptions{limits, {}});
  return optimizer.program(optimizer.run(alone, {}), tree.roots());
}

Fusion fuse(const OperationTree& tree, const FuseOptions& options) {
  Optimizer optimizer(tree, options);
  const std::vector<int> roots = tree.roots();
  Fusion fusion;
  fusion.chosen = optimizer.program(optimizer.run(any, options.progress), roots);
  fusion.unfused = optimizer.program(optimizer.run(alone, {}), roots);
  if (fusion.chosen.cut_points.empty()) {
    fusion.fully_fused = fusion.chosen;
  } else {
    const auto whole = [&](const FusedSubtree& s) {
      return tree.parent(s.root) >= 0 || s.cut_points.empty();
    };
    const auto fused = [&](const FusedSubtree& s) {
      return whole(s) && (tree.parent(s.root) < 0 || s.chain.size() == 1);
    };
    const std::vector<Cheapest> best = optimizer.run(fused, {});
    const bool all =
        std::ranges::none_of(roots, [&](int r) { return subtrees_of(best, r).empty(); });
    if (all) fusion.fully_fused = optimizer.program(best, roots);
  }
  return fusion;
}

}  // namespace tcsim::fusion
