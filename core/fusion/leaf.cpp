#include "core/fusion/leaf.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"

namespace tcsim::fusion {

ElementType element_type(const OperationTree& tree) {
  for (const OperationTree::Array& a : tree.arrays) {
    if (a.element == tree.arrays.front().element) continue;
    throw UnsupportedError(tree.name, "its tensors have elements of two types",
                           "give all of them one type");
  }
  return tree.arrays.front().element == size_of(ElementType::f64) ? ElementType::f64
                                                                  : ElementType::f32;
}

std::strong_ordering Leaf::operator<=>(const Leaf& o) const {
  if (const auto c = statement <=> o.statement; c != 0) return c;
  if (const auto c = tile <=> o.tile; c != 0) return c;
  for (TensorId t : all_tensors) {
    if (const auto c = places[t] <=> o.places[t]; c != 0) return c;
  }
  return std::strong_ordering::equal;
}

int array_of(const OperationTree& tree, int statement, TensorId t) {
  const OperationTree::Statement& s = tree.statement(statement);
  return t == TensorId::A ? s.left : t == TensorId::B ? s.right : s.out;
}

LeafCall leaf_at(const OperationTree& tree, int s, const Ranges& ranges,
                 const std::vector<Ranges>& held) {
  LeafCall call;
  call.leaf.statement = s;
  const std::vector<int>& kept = tree.array(tree.statement(s).out).indices;
  for (int i : tree.statement(s).indices) {
    call.leaf.tile.push_back(ranges[static_cast<std::size_t>(i)].size);
    const bool summed = std::ranges::find(kept, i) == kept.end();
    call.adds |= summed && ranges[static_cast<std::size_t>(i)].begin > 0;
  }
  for (TensorId t : all_tensors) {
    const int a = array_of(tree, s, t);
    const Ranges& hold = held[static_cast<std::size_t>(a)];
    std::int64_t offset = 0;
    for (int i : tree.array(a).indices) {
      const auto at = static_cast<std::size_t>(i);
      const Range whole = hold.empty() ? Range{0, tree.extent(i)} : hold[at];
      call.leaf.places[t].push_back(whole.size);
      offset = offset * whole.size + ranges[at].begin - whole.begin;
    }
    call.offset[t] = offset;
  }
  return call;
}

Contraction contraction_of(const OperationTree& tree, const Leaf& leaf) {
  const Contraction dense = contraction_of(tree, leaf.statement, leaf.tile);
  std::vector<Dimension> dims;
  for (int d = 0; d < dense.dim_count(); ++d) dims.push_back(dense.dim(DimId{d}));
  std::array<IndexedTensor, 3> tensors{dense.tensor(TensorId::A), dense.tensor(TensorId::B),
                                       dense.tensor(TensorId::C)};
  for (TensorId t : all_tensors) {
    tensors[static_cast<std::size_t>(index(t))].extents = leaf.places[t];
  }
  return {dense.name(), std::move(dims), std::move(tensors), dense.type()};
}

namespace {

struct LargestTiles {
  const OperationTree& tree;
  std::vector<std::vector<std::int64_t>> of;  // by statement

  void open(const Hold&, const Ranges&) {}
  void close(const Hold&, const Ranges&) {}
  void run(int s, const Ranges& ranges) {
    for (int i : tree.statement(s).indices) {
      of[static_cast<std::size_t>(s)].push_back(ranges[static_cast<std::size_t>(i)].size);
    }
  }
};

}  // namespace

std::vector<std::vector<std::int64_t>> tiles_of(const OperationTree& tree, const FusedNode& node) {
  Ranges ranges = all_of(tree);
  LargestTiles tiles{tree, {}};
  tiles.of.resize(tree.statements.size());
  walk_first_tiles(node, ranges, tiles);
  return std::move(tiles.of);
}

}  // namespace tcsim::fusion
