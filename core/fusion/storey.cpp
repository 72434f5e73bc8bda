#include "core/fusion/storey.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace tcsim::fusion {

Storey::Storey(const OperationTree& tree, const FusedNode& root, double line_elements)
    : tree_(tree), line_(line_elements), hold_(tree.arrays.size(), -1) {
  const std::vector<std::string> names = memory_rows(tree);
  rows_ = static_cast<int>(names.size());
  for (const OperationTree::Array& a : tree.arrays) {
    row_.push_back(static_cast<int>(std::ranges::find(names, a.name) - names.begin()));
  }
  std::vector<std::int64_t> ranges;
  for (const OperationTree::Index& i : tree.indices) ranges.push_back(i.extent);
  leaves_.resize(tree.statements.size());
  add(root, -1, ranges, {});
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    std::vector<std::int64_t> extents;
    for (int i : tree.arrays[a].indices) {
      extents.push_back(hold_[a] < 0 ? tree.extent(i) : node(hold_[a]).ranges[slot(i)]);
    }
    tensors_.emplace_back(extents, line_);
    whole_.push_back(tensors_.back().lines(TileLines::box(extents)));
  }
}

void Storey::measure(const std::vector<double>& packed) {
  for (int n = static_cast<int>(nodes_.size()); n-- > 0;) {
    Node& here = nodes_[slot(n)];
    here.full.assign(slot(rows_), 0);
    if (here.is_leaf()) here.packed = packed[slot(here.statement)];
    for (int child : here.children) here.packed = std::max(here.packed, node(child).packed);
    for (int a = 0; a < static_cast<int>(tree_.arrays.size()); ++a) {
      if (!here.arrays[slot(a)]) continue;
      double& lines = here.full[slot(row(a))];
      lines = std::min(whole_[slot(a)], lines + this->lines(a, n));
    }
    here.full.back() = here.packed;
  }
}

std::map<Leaf, double> Storey::calls(int statement) const {
  std::vector<int> path;
  for (int n = leaf(statement); n >= 0; n = node(n).parent) path.push_back(n);
  std::vector<std::int64_t> ranges;
  for (const OperationTree::Index& i : tree_.indices) ranges.push_back(i.extent);
  std::map<Leaf, double> all;
  std::vector<std::vector<std::int64_t>> held(tree_.arrays.size());
  const auto visit = [&](const auto& self, std::size_t depth, std::int64_t times) -> void {
    const Node& here = node(path[depth]);
    for (int a : here.holds) held[slot(a)] = ranges;
    if (here.is_leaf()) {
      Leaf l;
      l.statement = statement;
      for (int i : tree_.statement(statement).indices) l.tile.push_back(ranges[slot(i)]);
      for (TensorId t : all_tensors) {
        const int a = array_of(tree_, statement, t);
        for (int i : tree_.array(a).indices) {
          l.places[t].push_back(hold(a) < 0 ? tree_.extent(i) : held[slot(a)][slot(i)]);
        }
      }
      all[l] += static_cast<double>(times);
      return;
    }
    if (!here.is_loop()) return self(self, depth - 1, times);
    std::int64_t& range = ranges[slot(here.index)];
    const std::int64_t whole = range;
    if (whole >= here.tile) {
      range = here.tile;
      self(self, depth - 1, times * (whole / here.tile));
    }
    if (whole % here.tile != 0) {
      range = whole % here.tile;
      self(self, depth - 1, times);
    }
    range = whole;
  };
  visit(visit, path.size() - 1, 1);
  return all;
}

int Storey::add(const FusedNode& from, int parent, std::vector<std::int64_t> ranges,
                std::vector<int> holds) {
  if (const auto* hold = std::get_if<Hold>(&from.is)) {
    holds.push_back(hold->array);
    return add(*hold->body, parent, std::move(ranges), std::move(holds));
  }
  const int here = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  Node made;
  made.parent = parent;
  made.ranges = ranges;
  made.holds = holds;
  made.arrays.assign(tree_.arrays.size(), false);
  for (int a : holds) hold_[slot(a)] = here;
  std::vector<int> children;
  if (const auto* loop = std::get_if<TileLoop>(&from.is)) {
    made.index = loop->index;
    made.tile = loop->tile;
    std::int64_t& range = ranges[slot(loop->index)];
    made.count = std::ceil(static_cast<double>(range) / static_cast<double>(loop->tile));
    range = std::min(range, loop->tile);
    children.push_back(add(*loop->body, here, ranges, {}));
  } else if (const auto* parts = std::get_if<InOrder>(&from.is)) {
    for (const FusedNode& part : parts->parts) children.push_back(add(part, here, ranges, {}));
  } else {
    made.statement = std::get<Do>(from.is).statement;
    leaves_[slot(made.statement)] = here;
    for (TensorId t : all_tensors) {
      made.arrays[slot(array_of(tree_, made.statement, t))] = true;
    }
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    nodes_[slot(children[i])].place = static_cast<int>(i);
    for (std::size_t a = 0; a < made.arrays.size(); ++a) {
      if (node(children[i]).arrays[a]) made.arrays[a] = true;
    }
  }
  made.children = std::move(children);
  nodes_[slot(here)] = std::move(made);
  return here;
}

}  // namespace tcsim::fusion
