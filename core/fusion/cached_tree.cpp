#include "core/fusion/cached_tree.hpp"

#include <algorithm>
#include <iterator>

namespace tcsim::fusion {

namespace {

void add_leaves(const TiledTree& tiled, std::vector<int>& leaves) {
  if (tiled.parts.empty()) leaves.push_back(tiled.statement);
  for (const TiledTree& part : tiled.parts) add_leaves(part, leaves);
}

// Intermediates that one part makes and a later one reads.
std::vector<int> handed_over(const OperationTree& tree, const TiledTree& tiled) {
  std::vector<int> arrays, before;
  for (const TiledTree& part : tiled.parts) {
    std::vector<int> here;
    add_leaves(part, here);
    for (int s : here) {
      for (int child : tree.children(s)) {
        if (std::ranges::find(before, child) != before.end()) {
          arrays.push_back(tree.statement(child).out);
        }
      }
    }
    before.insert(before.end(), here.begin(), here.end());
  }
  std::ranges::sort(arrays);
  return arrays;
}

FusedNode node_within(const OperationTree& tree, const TiledTree& tiled,
                      std::vector<std::int64_t>& ranges) {
  const std::vector<std::int64_t> outside = ranges;
  for (const TiledTree::Loop& l : tiled.loops) {
    std::int64_t& range = ranges[static_cast<std::size_t>(l.index)];
    range = std::min(range, l.tile);
  }
  FusedNode node = Do{tiled.statement};
  if (!tiled.parts.empty()) {
    InOrder parts;
    for (const TiledTree& part : tiled.parts) {
      parts.parts.push_back(node_within(tree, part, ranges));
    }
    node = parts.parts.size() == 1 ? parts.parts.front() : FusedNode(std::move(parts));
  }
  const std::vector<int> held = handed_over(tree, tiled);
  for (auto a = held.rbegin(); a != held.rend(); ++a) {
    node = Hold{Hold::Kind::buffer, *a, std::move(node)};
  }
  ranges = outside;
  for (auto l = tiled.loops.rbegin(); l != tiled.loops.rend(); ++l) {
    if (l->tile >= ranges[static_cast<std::size_t>(l->index)]) continue;
    node = TileLoop{l->index, l->tile, std::move(node)};
  }
  return node;
}

// Whether a statement of one part reads what one of another makes.
bool needs(const OperationTree& tree, const LoopTree& part, const LoopTree& other) {
  const std::vector<int> makers = leaves_of(other);
  return std::ranges::any_of(leaves_of(part), [&](int s) {
    return std::ranges::any_of(tree.children(s), [&](int child) {
      return std::ranges::find(makers, child) != makers.end();
    });
  });
}

TiledTree tiled(const OperationTree& tree, const LoopTree& structure) {
  TiledTree t;
  t.statement = structure.statement;
  if (structure.is_leaf()) return t;
  for (int i : structure.indices) t.loops.push_back({i, tree.extent(i)});
  std::vector<LoopTree> rest = structure.parts;
  while (!rest.empty()) {  // the root of a subtree may stand inside its chain
    const auto next = std::ranges::find_if(rest, [&](const LoopTree& p) {
      return std::ranges::none_of(rest,
                                  [&](const LoopTree& o) { return &o != &p && needs(tree, p, o); });
    });
    t.parts.push_back(tiled(tree, *next));
    rest.erase(next);
  }
  return t;
}

using Programs = std::vector<std::vector<TiledTree>>;  // each a list of parts

Programs products(const Programs& left, const Programs& right, std::size_t most) {
  Programs all;
  for (const auto& l : left) {
    for (const auto& r : right) {
      if (all.size() == most) return all;
      all.push_back(l);
      std::ranges::copy(r, std::back_inserter(all.back()));
    }
  }
  return all;
}

Programs programs_of(const OperationTree& tree, int root, std::size_t most) {
  Programs all;
  for (const FusedSubtree& subtree : top_subtrees(tree, root)) {
    Programs before{{}};
    for (int cut : subtree.cut_points) {
      before = products(before, programs_of(tree, cut, most), most);
    }
    Programs here;
    for (const LoopTree& structure : maximally_fused(tree, subtree.chain)) {
      here.push_back({tiled(tree, structure)});
    }
    for (auto& program : products(before, here, most)) all.push_back(std::move(program));
    if (all.size() > most) all.resize(most);
  }
  return all;
}

}  // namespace

FusedNode to_node(const OperationTree& tree, const TiledTree& tiled) {
  std::vector<std::int64_t> ranges;
  for (const OperationTree::Index& i : tree.indices) ranges.push_back(i.extent);
  return node_within(tree, tiled, ranges);
}

std::vector<TiledTree> cached_structures(const OperationTree& tree, std::size_t most) {
  Programs all{{}};
  for (int root : tree.roots()) all = products(all, programs_of(tree, root, most), most);
  std::vector<TiledTree> trees(1);
  for (int s = 0; s < static_cast<int>(tree.statements.size()); ++s) {
    TiledTree leaf;
    leaf.statement = s;
    trees.front().parts.push_back(leaf);
  }
  for (auto& parts : all) {
    const bool fuses = std::ranges::any_of(parts, [](const auto& p) { return !p.parts.empty(); });
    if (!fuses) continue;
    TiledTree root;
    root.parts = std::move(parts);
    if (root.parts.size() == 1) root = TiledTree(root.parts.front());
    trees.push_back(std::move(root));
  }
  return trees;
}

}  // namespace tcsim::fusion
