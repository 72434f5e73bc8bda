// What runs below a fused schedule: a statement on a tile of tensors that are larger.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/operation_tree.hpp"
#include "core/fusion/walk.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::fusion {

// What all tensors have. Throws UnsupportedError where they differ.
ElementType element_type(const OperationTree& tree);

// A statement on a tile, and how its tensors lie in memory: those that are equal run by one
// Schedule.
struct Leaf {
  int statement = 0;
  std::vector<std::int64_t> tile;              // by the statement's indices, in their order
  ByTensor<std::vector<std::int64_t>> places;  // along each axis of left, right and out
  std::strong_ordering operator<=>(const Leaf& o) const;
  bool operator==(const Leaf& o) const { return (*this <=> o) == 0; }
};
// A is the left operand, B the right one.
int array_of(const OperationTree& tree, int statement, TensorId t);

struct LeafCall {
  Leaf leaf;
  ByTensor<std::int64_t> offset{};  // elements from where the tensor, or its hold, begins
  bool adds = false;                // to what earlier calls left in the output's tile
};
// The statement on the current ranges. `held`: by array, the ranges that its hold has; empty where
// it lies as a whole.
LeafCall leaf_at(const OperationTree& tree, int statement, const Ranges& ranges,
                 const std::vector<Ranges>& held);

// The statement on its tile, each tensor a part of the whole that it lies in.
Contraction contraction_of(const OperationTree& tree, const Leaf& leaf);

// The largest tile on which each statement runs, an extent for each of its indices.
std::vector<std::vector<std::int64_t>> tiles_of(const OperationTree& tree, const FusedNode& node);

}  // namespace tcsim::fusion
