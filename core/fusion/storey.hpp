// A fused schedule inside caches as the model sees it (core/fusion/cached_model.hpp): the upper one
// of two storeys. The lower one is the Nest of a leaf's schedule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/fusion/cached.hpp"
#include "core/model/tile_lines.hpp"

namespace tcsim::fusion {

// Lines by row of the memory map.
using Rows = std::vector<double>;
// Of a number that is a place in a vector.
constexpr std::size_t slot(int i) { return static_cast<std::size_t>(i); }

// A fused schedule as a tree whose nodes know the ranges that they find, and what they touch.
class Storey {
 public:
  struct Node {
    int parent = -1, place = 0;  // among the parent's children
    std::vector<int> children;   // one of a loop, none of a leaf
    int index = -1;              // of a loop
    std::int64_t tile = 1;
    double count = 1;
    int statement = -1;                // of a leaf
    std::vector<std::int64_t> ranges;  // by index, of whole tiles
    std::vector<int> holds;            // opened just around it
    std::vector<bool> arrays;          // touched inside
    double packed = 0;                 // lines of packed operands
    Rows full;                         // lines that one execution touches
    bool is_leaf() const { return statement >= 0; }
    bool is_loop() const { return index >= 0; }
  };

  Storey(const OperationTree& tree, const FusedNode& root, double line_elements);

  // `packed`: by statement.
  void measure(const std::vector<double>& packed);

  const Node& node(int n) const { return nodes_[slot(n)]; }
  int leaf(int statement) const { return leaves_[slot(statement)]; }
  int hold(int array) const { return hold_[slot(array)]; }
  int row(int array) const { return row_[slot(array)]; }
  int packed_row() const { return rows_ - 1; }
  int rows() const { return rows_; }
  const TileLines& tensor(int array) const { return tensors_[slot(array)]; }
  double whole(int array) const { return whole_[slot(array)]; }

  bool is_inside(int n, int ancestor) const {
    for (; n >= 0; n = node(n).parent) {
      if (n == ancestor) return true;
    }
    return false;
  }
  // Whether iterations of a loop touch different lines of the array.
  bool moves(int loop, int array) const {
    const auto& indices = tree_.array(array).indices;
    if (std::ranges::find(indices, node(loop).index) == indices.end()) return false;
    return hold(array) < 0 || is_inside(loop, hold(array));
  }
  bool moves_row(int loop, int row) const {
    for (std::size_t a = 0; a < tree_.arrays.size(); ++a) {
      const int array = static_cast<int>(a);
      if (row_[a] == row && node(loop).arrays[a] && moves(loop, array)) return true;
    }
    return false;
  }
  // Places of an array along its axes that node n covers.
  std::vector<std::int64_t> extents(int array, int n) const {
    const int from = hold(array) >= 0 && !is_inside(n, hold(array)) ? hold(array) : n;
    std::vector<std::int64_t> e;
    for (int i : tree_.array(array).indices) e.push_back(node(from).ranges[slot(i)]);
    return e;
  }
  double lines(int array, int n) const {
    return tensors_[slot(array)].lines(TileLines::box(extents(array, n)));
  }

  // The leaves of a statement that differ, and how often each is called.
  std::map<Leaf, double> calls(int statement) const;

 private:
  int add(const FusedNode& from, int parent, std::vector<std::int64_t> ranges,
          std::vector<int> holds);

  const OperationTree& tree_;
  double line_;
  int rows_ = 0;
  std::vector<int> row_;   // by array
  std::vector<int> hold_;  // by array: the node just inside its hold, -1 without one
  std::vector<int> leaves_;
  std::vector<Node> nodes_;  // parents before children
  std::vector<TileLines> tensors_;
  std::vector<double> whole_;
};

}  // namespace tcsim::fusion
