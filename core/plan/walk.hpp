// Goes through a plan in the order of its schedule: packs and kernel calls with their addresses.
// The executor and the simulator see the same sequence, because both are visitors of walk(). Within
// a pack the simulator takes pieces in the order of for_each_block(); the executor may take them in
// the order of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/plan/plan.hpp"

namespace tcsim {

// Where a kernel finds an operand: a micropanel in its buffer, or (offset -1) the tensor itself.
struct KernelCall {
  const Tile* tile = nullptr;
  std::int64_t left_offset = -1;   // in the packed copy of plan.left()
  std::int64_t right_offset = -1;  // in the packed copy of plan.right()
  bool first_writer = true;        // of this tile of C: the kernel overwrites it, others add
};

// Kernel calls that follow one another without anything between: those of the loops over m and n
// that stand around the kernel, one of each at most.
struct KernelBlock {
  const Tile* tile = nullptr;  // what the loops run over
  // As in KernelCall, of the block's first row and column.
  std::int64_t left_offset = -1, right_offset = -1;
  bool first_writer = true;
  std::int64_t row_tile = 0, column_tile = 0;  // of each call, the last one may be smaller
  bool rows_inside = true;                     // m runs inside n
  bool lanes = false;                          // a packed right operand goes on along m
};

// One iteration of a loop, about to begin.
struct Iteration {
  std::size_t depth = 0;  // of the loop in Plan::steps()
  const Tile* tile = nullptr;
  // Where the iteration's part of a packed operand begins, as in KernelCall.
  std::int64_t left_offset = -1, right_offset = -1;
};

// Calls visitor.pack(const PackPlan&, const Tile&) and visitor.kernel(const KernelCall&) in the
// order of the schedule. A visitor stops the walk by throwing. One that has
//   void block(const KernelBlock&)
// is given kernel calls by the block, in the order of for_each_call. One that can do without what
// an iteration of a loop would call has
//   bool skips(const Iteration&)   asked before each iteration: whether to leave it out
//   void done(std::size_t depth)   after each one that was not left out
// All of the plan, or `part` of it, as if the groups ended there.
template <class Visitor>
void walk(const Plan& plan, Visitor&& visitor);
template <class Visitor>
void walk(const Plan& plan, Visitor&& visitor, const Tile& part);

// Calls f(Interval m, Interval n, std::int64_t left_offset, std::int64_t right_offset) for each
// kernel call of a block, in order.
template <class F>
void for_each_call(const KernelBlock& block, F&& f);

namespace detail {

template <class Visitor>
class Walker {
 public:
  Walker(const Plan& plan, Visitor& visitor, const Tile& part)
      : plan_(plan), visitor_(visitor), tile_(part) {}

  // `left` and `right`: where the operand's part begins in its buffer, -1 while it is not packed.
  // They are arguments and not members: two members written one by one and read back as one vector
  // have to wait for every store before them, which are a kernel's to C.
  void step(std::size_t depth, std::int64_t left = -1, std::int64_t right = -1) {
    const Step& s = plan_.steps()[depth];
    if constexpr (requires { visitor_.block(KernelBlock{}); }) {
      if (depth == plan_.block_depth()) return block(left, right);
    }
    switch (s.kind) {
      case Step::Kind::loop:
        return loop(s, depth, left, right);
      case Step::Kind::move:
        visitor_.pack(*plan_.pack(s.tensor), tile_);
        return s.tensor == plan_.left() ? step(depth + 1, 0, right) : step(depth + 1, left, 0);
      case Step::Kind::part:
        break;  // no plan has any
      case Step::Kind::kernel:
        if constexpr (requires { visitor_.kernel(KernelCall{}); }) {
          visitor_.kernel(KernelCall{&tile_, left, right, tile_[DimClass::k].begin == 0});
        }
    }
  }

 private:
  void block(std::int64_t left, std::int64_t right) {
    const Step& s = plan_.steps()[plan_.block_depth()];
    if (s.kind != Step::Kind::loop || s.head == 0) return block(left, right, s.tile);
    // Where there are two sizes of tiles, no operand of that group is packed: nothing moves on.
    Interval& range = tile_[s.group];
    const Interval all = range;
    const std::int64_t head = std::min(s.head, all.size);
    range = {all.begin, head};
    block(left, right, s.head_tile);
    range = {all.begin + head, all.size - head};
    if (range.size > 0) block(left, right, s.tile);
    range = all;
  }

  // `outer_tile`: of the block's outermost loop, if it has any.
  void block(std::int64_t left, std::int64_t right, std::int64_t outer_tile) {
    KernelBlock b{&tile_, left, right, tile_[DimClass::k].begin == 0};
    b.lanes = plan_.lanes();
    b.row_tile = tile_[DimClass::m].size;
    b.column_tile = tile_[DimClass::n].size;
    const auto& steps = plan_.steps();
    for (std::size_t d = plan_.block_depth(); steps[d].kind == Step::Kind::loop; ++d) {
      b.rows_inside = steps[d].group == DimClass::m;
      (b.rows_inside ? b.row_tile : b.column_tile) =
          d == plan_.block_depth() ? outer_tile : steps[d].tile;
    }
    visitor_.block(b);
  }

  void loop(const Step& s, std::size_t depth, std::int64_t left, std::int64_t right) {
    Interval& range = tile_[s.group];
    const Interval outer = range;
    // Earlier tiles of this loop fill the buffer up to here: whole tiles times the current range
    // of the operand's other group.
    const std::int64_t left_stride = left < 0 ? 0 : stride(s.group, plan_.left());
    const std::int64_t right_stride = right < 0 ? 0 : stride(s.group, plan_.right());
    for (std::int64_t i = 0, size = 0; i < outer.size; i += size) {
      size = s.tile_at(i, outer.size);
      range = {outer.begin + i, size};
      std::int64_t inner_left = left + i * left_stride, inner_right = right + i * right_stride;
      if (s.group == DimClass::batch && s.tile == 1) {
        if (left >= 0) inner_left = left + plan_.pack(plan_.left())->place_of(tile_);
        if (right >= 0) inner_right = right + plan_.pack(plan_.right())->place_of(tile_);
      }
      if constexpr (requires { visitor_.skips(Iteration{}); }) {
        if (visitor_.skips(Iteration{depth, &tile_, inner_left, inner_right})) continue;
      }
      step(depth + 1, inner_left, inner_right);
      if constexpr (requires { visitor_.done(depth); }) visitor_.done(depth);
    }
    range = outer;
  }

  std::int64_t stride(DimClass group, TensorId t) const {
    const DimClass rows = plan_.path().rows_of(t);
    const std::int64_t panel = plan_.path().panel_of(t);
    if (group == rows) return tile_[DimClass::k].size;
    if (group == DimClass::k) return (tile_[rows].size + panel - 1) / panel * panel;
    return 0;  // places of the batch have places of their own (PackPlan::place_of)
  }

  const Plan& plan_;
  Visitor& visitor_;
  Tile tile_;
};

}  // namespace detail

template <class F>
void for_each_call(const KernelBlock& block, F&& f) {
  const Interval m = (*block.tile)[DimClass::m], n = (*block.tile)[DimClass::n];
  const std::int64_t kc = (*block.tile)[DimClass::k].size;
  const std::int64_t left_stride = block.left_offset < 0 ? 0 : kc;
  const std::int64_t right_stride = block.right_offset < 0 ? 0 : kc;
  const auto call = [&](std::int64_t i, std::int64_t j) {
    f(Interval{m.begin + i, std::min(block.row_tile, m.size - i)},
      Interval{n.begin + j, std::min(block.column_tile, n.size - j)},
      block.left_offset + i * left_stride,
      block.right_offset + (block.lanes ? i : j) * right_stride);
  };
  if (block.rows_inside) {
    for (std::int64_t j = 0; j < n.size; j += block.column_tile) {
      for (std::int64_t i = 0; i < m.size; i += block.row_tile) call(i, j);
    }
  } else {
    for (std::int64_t i = 0; i < m.size; i += block.row_tile) {
      for (std::int64_t j = 0; j < n.size; j += block.column_tile) call(i, j);
    }
  }
}

template <class Visitor>
void walk(const Plan& plan, Visitor&& visitor, const Tile& part) {
  detail::Walker<std::remove_reference_t<Visitor>>(plan, visitor, part).step(0);
}

template <class Visitor>
void walk(const Plan& plan, Visitor&& visitor) {
  walk(plan, visitor, plan.all());
}

}  // namespace tcsim
