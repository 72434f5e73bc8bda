#include "core/fusion/subtrees.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <utility>

namespace tcsim::fusion {

namespace {

// A chain that ends in its root, and what it reads from disk.
struct Promising {
  std::vector<int> chain;
  IndexSet cut_points;
};

// All chains that end in `root`: those of one of its children prolonged, the other one being cut.
std::vector<Promising> promising(const OperationTree& tree, int root) {
  const std::vector<int> children = tree.children(root);
  IndexSet all = children;
  std::ranges::sort(all);
  std::vector<Promising> found{{{root}, all}};
  for (int child : children) {
    for (Promising p : promising(tree, child)) {
      p.chain.push_back(root);
      p.cut_points = joined(p.cut_points, without(all, {child}));
      found.push_back(std::move(p));
    }
  }
  return found;
}

LoopTree leaf(const OperationTree& tree, int statement) {
  return {tree.statement(statement).indices, {}, statement};
}

LoopTree fused(LoopTree left, LoopTree right) {
  IndexSet both = common(left.indices, right.indices);
  left.indices = without(left.indices, both);
  right.indices = without(right.indices, both);
  return {std::move(both), {std::move(left), std::move(right)}, -1};
}

// The trees of all blocks of a chain, each made once.
template <class Keep>
std::vector<LoopTree> parenthesized(const OperationTree& tree, const std::vector<int>& chain,
                                    Keep&& keep) {
  const std::size_t n = chain.size();
  std::vector<std::vector<std::vector<LoopTree>>> of(n, std::vector<std::vector<LoopTree>>(n + 1));
  for (std::size_t size = 1; size <= n; ++size) {
    for (std::size_t begin = 0; begin + size <= n; ++begin) {
      std::vector<LoopTree>& all = of[begin][begin + size];
      if (size == 1) all.push_back(leaf(tree, chain[begin]));
      for (std::size_t middle = begin + 1; middle < begin + size; ++middle) {
        for (const LoopTree& l : of[begin][middle]) {
          for (const LoopTree& r : of[middle][begin + size]) all.push_back(fused(l, r));
        }
      }
      keep(all);
    }
  }
  return std::move(of[0][n]);
}

// Those of the set whose bits are set.
IndexSet chosen(const IndexSet& set, std::uint32_t choice) {
  IndexSet some;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if ((choice >> i & 1) != 0) some.push_back(set[i]);
  }
  return some;
}

// Trees over a block of a chain, and lists of trees over the blocks that it is cut into.
class Enumerator {
 public:
  Enumerator(const OperationTree& tree, const std::vector<int>& chain)
      : tree_(tree), chain_(chain) {}

  std::vector<LoopTree> trees(std::size_t begin, std::size_t end, const IndexSet& used) const {
    if (end - begin == 1) {
      LoopTree one = leaf(tree_, chain_[begin]);
      one.indices = without(one.indices, used);
      return {one};
    }
    IndexSet shared = without(tree_.statement(chain_[begin]).indices, used);
    for (std::size_t i = begin + 1; i < end; ++i) {
      shared = common(shared, tree_.statement(chain_[i]).indices);
    }
    std::vector<LoopTree> all;
    assert(shared.size() < 32);
    for (std::uint32_t choice = 1; choice < std::uint32_t{1} << shared.size(); ++choice) {
      const IndexSet loops = chosen(shared, choice);
      for (std::vector<LoopTree>& parts : blocks(begin, end, joined(used, loops), true)) {
        all.push_back({loops, std::move(parts), -1});
      }
    }
    return all;
  }

 private:
  std::vector<std::vector<LoopTree>> blocks(std::size_t begin, std::size_t end,
                                            const IndexSet& used, bool cut) const {
    if (begin == end) return {{}};
    std::vector<std::vector<LoopTree>> all;
    for (std::size_t middle = begin + 1; middle <= end; ++middle) {
      if (cut && middle == end) break;
      const auto rests = blocks(middle, end, used, false);
      for (const LoopTree& first : trees(begin, middle, used)) {
        for (const std::vector<LoopTree>& rest : rests) {
          all.push_back({first});
          all.back().insert(all.back().end(), rest.begin(), rest.end());
        }
      }
    }
    return all;
  }

  const OperationTree& tree_;
  const std::vector<int>& chain_;
};

// How many trees() and blocks() the enumerator makes.
class StructureCounter {
 public:
  StructureCounter(const OperationTree& tree, const std::vector<int>& chain)
      : tree_(tree), chain_(chain) {}

  double trees(std::size_t begin, std::size_t end, const IndexSet& used) {
    if (end - begin == 1) return 1;
    IndexSet all = tree_.statement(chain_[begin]).indices, shared = all;
    for (std::size_t i = begin + 1; i < end; ++i) {
      all = joined(all, tree_.statement(chain_[i]).indices);
      shared = common(shared, tree_.statement(chain_[i]).indices);
    }
    shared = without(shared, used);
    if (shared.size() > most_shared) return std::numeric_limits<double>::infinity();
    const auto [there, is_new] = known_.try_emplace({{begin, end}, common(used, all)}, 0.0);
    if (!is_new) return there->second;
    double sum = 0;
    for (std::uint32_t choice = 1; choice < std::uint32_t{1} << shared.size(); ++choice) {
      sum += blocks(begin, end, joined(used, chosen(shared, choice)), true);
    }
    return there->second = sum;
  }

 private:
  static constexpr std::size_t most_shared = 12;

  double blocks(std::size_t begin, std::size_t end, const IndexSet& used, bool cut) {
    if (begin == end) return 1;
    double sum = 0;
    for (std::size_t middle = begin + 1; middle <= end - (cut ? 1 : 0); ++middle) {
      sum += trees(begin, middle, used) * blocks(middle, end, used, false);
    }
    return sum;
  }

  const OperationTree& tree_;
  const std::vector<int>& chain_;
  std::map<std::pair<std::pair<std::size_t, std::size_t>, IndexSet>, double> known_;
};

// The loops that two statements share, given those of the nodes around; nothing where one of them
// is not in the tree.
bool find_shared(const LoopTree& node, int a, int b, const IndexSet& around, IndexSet& shared) {
  const std::vector<int> leaves = leaves_of(node);
  const auto has = [&](int s) { return std::ranges::find(leaves, s) != leaves.end(); };
  if (!has(a) || !has(b)) return false;
  const IndexSet here = joined(around, node.indices);
  for (const LoopTree& part : node.parts) {
    if (find_shared(part, a, b, here, shared)) return true;
  }
  shared = here;
  return true;
}

// The parts of a tree after sinking; more than one where its node dissolves.
std::vector<LoopTree> sink(LoopTree node, const LoopTree& like) {
  if (node.is_leaf()) return {std::move(node)};
  IndexSet keep = node.indices;
  const std::vector<int> leaves = leaves_of(node);
  for (int a : leaves) {
    for (int b : leaves) {
      if (a >= b) continue;
      IndexSet shared;
      find_shared(like, a, b, {}, shared);
      keep = common(keep, shared);
    }
  }
  const IndexSet down = without(node.indices, keep);
  LoopTree result{keep, {}, -1};
  for (LoopTree& part : node.parts) {
    part.indices = joined(part.indices, down);
    for (LoopTree& p : sink(std::move(part), like)) result.parts.push_back(std::move(p));
  }
  if (keep.empty()) return std::move(result.parts);
  return {std::move(result)};
}

}  // namespace

std::vector<FusedSubtree> top_subtrees(const OperationTree& tree, int root) {
  std::vector<FusedSubtree> all;
  for (Promising& p : promising(tree, root)) {
    all.push_back({std::move(p.chain), root, std::move(p.cut_points)});
  }
  const std::vector<int> children = tree.children(root);
  if (children.size() != 2) return all;
  const std::vector<Promising> left = promising(tree, children[0]);
  const std::vector<Promising> right = promising(tree, children[1]);
  for (const Promising& l : left) {
    for (const Promising& r : right) {
      FusedSubtree both{l.chain, root, joined(l.cut_points, r.cut_points)};
      both.chain.push_back(root);
      both.chain.insert(both.chain.end(), r.chain.rbegin(), r.chain.rend());
      all.push_back(std::move(both));
    }
  }
  return all;
}

std::vector<int> leaves_of(const LoopTree& tree) {
  if (tree.is_leaf()) return {tree.statement};
  std::vector<int> all;
  for (const LoopTree& part : tree.parts) {
    const std::vector<int> inside = leaves_of(part);
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

std::vector<LoopTree> maximally_fused(const OperationTree& tree, const std::vector<int>& chain) {
  return parenthesized(tree, chain, [](std::vector<LoopTree>&) {});
}

std::vector<LoopTree> maximally_fused(const OperationTree& tree, const std::vector<int>& chain,
                                      std::size_t keep,
                                      const std::function<std::int64_t(const LoopTree&)>& score) {
  return parenthesized(tree, chain, [&](std::vector<LoopTree>& all) {
    if (all.size() <= keep) return;
    std::vector<std::pair<std::int64_t, std::size_t>> scores;
    for (std::size_t i = 0; i < all.size(); ++i) scores.emplace_back(score(all[i]), i);
    std::ranges::sort(scores);
    std::vector<LoopTree> kept;
    for (std::size_t i = 0; i < keep; ++i) kept.push_back(std::move(all[scores[i].second]));
    all = std::move(kept);
  });
}

std::vector<LoopTree> all_structures(const OperationTree& tree, const std::vector<int>& chain) {
  return Enumerator(tree, chain).trees(0, chain.size(), {});
}

StructureCount count_structures(const OperationTree& tree, const std::vector<int>& chain) {
  StructureCount count;
  count.all = StructureCounter(tree, chain).trees(0, chain.size(), {});
  count.maximally_fused = 1;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {  // Catalan numbers
    const double k = static_cast<double>(i);
    count.maximally_fused *= 2 * (2 * k + 1) / (k + 2);
  }
  return count;
}

LoopTree fused_like(const OperationTree& tree, const LoopTree& structure) {
  if (structure.is_leaf()) return leaf(tree, structure.statement);
  LoopTree result = fused_like(tree, structure.parts.front());
  for (std::size_t i = 1; i < structure.parts.size(); ++i) {
    result = fused(std::move(result), fused_like(tree, structure.parts[i]));
  }
  return result;
}

LoopTree sunk(const LoopTree& structure, const LoopTree& like) {
  std::vector<LoopTree> parts = sink(structure, like);
  if (parts.size() == 1) return std::move(parts.front());
  return {{}, std::move(parts), -1};
}

std::string to_text(const OperationTree& tree, const LoopTree& structure) {
  if (structure.is_leaf()) return tree.array(tree.statement(structure.statement).out).name;
  std::string text = "{";
  for (int i : structure.indices) {
    if (text.size() > 1) text += ',';
    text += tree.indices[static_cast<std::size_t>(i)].name;
  }
  text += ':';
  for (const LoopTree& part : structure.parts) text += ' ' + to_text(tree, part);
  return text + '}';
}

}  // namespace tcsim::fusion
