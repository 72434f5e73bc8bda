// A Plan is a checked schedule joined with its contraction: everything that an interpreter needs
// to walk the tree with real offsets. The executor and the simulator see the same sequence of packs
// and calls with the same addresses, because both are visitors of walk(). Within a pack the
// simulator takes pieces in the order of for_each_block(); the executor may take them in the order
// of memory.
//
// Arrays are the three tensors and the packed copies of A and B. All live in one arena; base[]
// gives each array's place in it. The arena itself starts at a multiple of 2 MiB, so that the bits
// of an address that choose a cache set are known without running anything.
//
// Walking costs a few nanoseconds a kernel call; offsets within tensors come from one table per
// tensor and group (an address is a sum of one entry per group, since no dimension is in two).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/schedule/schedule.hpp"
#include "core/schedule/spine.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

enum class ArrayId : int { A, B, C, packed_A, packed_B };
constexpr int array_count = 5;
constexpr int index(ArrayId a) { return static_cast<int>(a); }
inline constexpr std::array all_arrays{ArrayId::A, ArrayId::B, ArrayId::C, ArrayId::packed_A,
                                       ArrayId::packed_B};
const char* to_text(ArrayId);  // "A", "B", "C", "packed A", "packed B"
constexpr ArrayId array_of(TensorId t) { return ArrayId{index(t)}; }
constexpr ArrayId buffer_of(TensorId t) { return ArrayId{index(t) + 3}; }  // of A or B
constexpr bool is_buffer(ArrayId a) { return index(a) >= index(ArrayId::packed_A); }
// The tensor that an array is, or is a packed copy of.
constexpr TensorId tensor_of(ArrayId a) { return TensorId{is_buffer(a) ? index(a) - 3 : index(a)}; }

// A part of a group's fused index.
struct Range {
  std::int64_t begin = 0;
  std::int64_t size = 0;
};

// The current range of every group, by DimClass.
using Tile = std::array<Range, 4>;
// How a packed buffer is laid out and filled.
struct PackPlan {
  TensorId tensor = TensorId::A;
  DimClass rows = DimClass::m;  // the group that runs across a micropanel: m or n
  std::int64_t panel = 0;       // rows of a micropanel: mr or nr
  struct LayoutLoop {
    bool over_rows = false;  // otherwise over k
    std::int64_t tile = 0;
  };
  std::vector<LayoutLoop> layout;  // the loops inside the Pack that the tensor follows
  std::int64_t capacity = 0;       // elements of the buffer
  // Filling order, so that a source line is read whole. Neighbours along the source's stride-one
  // dimension are `apart` steps apart in the fused index of the group that holds it (rows or k).
  // for_each_block names together what reads neighbours, a page of them, since memory is slow to
  // begin and fast to go on: panel_group micropanels where that is 1, else up to `strips` blocks;
  // k_chunk columns at a time.
  bool along_rows = true;  // which group holds the stride-one dimension
  std::int64_t apart = 1;
  std::int64_t strips = 1;
  std::int64_t panel_group = 1;
  std::int64_t k_chunk = 1;

  // Offset in the buffer of a micropanel's piece, for the pack of `tile`: row and k count from the
  // tile's beginning, row is a multiple of `panel`.
  std::int64_t offset(const Tile& tile, std::int64_t row, std::int64_t k) const;
  // How many columns from k on, which counts likewise, are neighbours in the buffer: to the end of
  // the innermost tile of k.
  std::int64_t columns_left(const Tile& tile, std::int64_t k) const;
};

// One contiguous piece of a packed buffer: k_size columns of `panel` elements, the first `rows` of
// each from the tensor, the rest zero.
struct PackBlock {
  std::int64_t row = 0, rows = 0;  // fused index of the first row (m or n), rows to copy
  std::int64_t k = 0, k_size = 0;  // fused index of the first column
  std::int64_t destination = 0;    // element offset in the buffer
};

// Where a kernel finds an operand: a micropanel in its buffer, or (offset -1) the tensor itself.
struct KernelCall {
  const Tile* tile = nullptr;
  std::int64_t left_offset = -1;   // in the packed copy of plan.left()
  std::int64_t right_offset = -1;  // in the packed copy of plan.right()
  bool first_k = true;             // the kernel overwrites C; otherwise it adds to it
};

// Kernel calls that follow one another without anything between: those of the loops over m and n
// that stand around the kernel, one of each at most.
struct KernelBlock {
  const Tile* tile = nullptr;  // what the loops run over
  // As in KernelCall, of the block's first row and column.
  std::int64_t left_offset = -1, right_offset = -1;
  bool first_k = true;
  std::int64_t row_tile = 0, column_tile = 0;  // of each call, the last one may be smaller
  bool rows_inside = true;                     // m runs inside n
};

// One iteration of a loop, about to begin.
struct Iteration {
  std::size_t depth = 0;  // of the loop in Plan::steps()
  const Tile* tile = nullptr;
  // Where the iteration's part of a packed operand begins, as in KernelCall.
  std::int64_t left_offset = -1, right_offset = -1;
};

class Plan {
 public:
  // `schedule` must have passed check(). Throws UnsupportedError if an array has 2^47 bytes
  // or more, or a group more than 2^30 elements.
  Plan(const Contraction& contraction, const Schedule& schedule);

  const Contraction& contraction() const { return contraction_; }
  const Schedule& schedule() const { return schedule_; }
  const std::vector<Step>& steps() const { return spine_.steps; }
  std::int64_t mr() const { return spine_.mr; }
  std::int64_t nr() const { return spine_.nr; }
  // Depth in steps() of the first loop of the kernel blocks, or of the kernel where it has none.
  std::size_t block_depth() const { return block_depth_; }

  TensorId left() const { return spine_.left; }      // has the rows (group m) and k
  TensorId right() const { return spine_.right(); }  // has the columns (group n) and k
  std::int64_t extent(DimClass group) const { return spine_.extents[at(group)]; }
  // Every group whole.
  Tile all() const {
    Tile tile;
    for (DimClass g : all_dim_classes) tile[at(g)] = {0, extent(g)};
    return tile;
  }

  // Element offset within tensor t of index i of `group`; 0 for a group that t lacks.
  std::int64_t offset(TensorId t, DimClass group, std::int64_t i) const {
    const auto& table = offsets_[static_cast<std::size_t>(index(t))][at(group)];
    return table.empty() ? 0 : table[static_cast<std::size_t>(i)];
  }
  // Table of those offsets, or nullptr for a group that t lacks.
  const std::int64_t* offsets(TensorId t, DimClass group) const {
    const auto& table = offsets_[static_cast<std::size_t>(index(t))][at(group)];
    return table.empty() ? nullptr : table.data();
  }

  // The pack of a tensor, or nullptr where the schedule reads it in place.
  const PackPlan* pack(TensorId t) const {
    const auto& p = packs_[static_cast<std::size_t>(index(t))];
    return p ? &*p : nullptr;
  }

  Bytes element() const { return size_of(contraction_.type()); }
  // First byte of an array in the arena, a multiple of 4096; arrays do not overlap.
  Bytes base(ArrayId a) const { return bases_[static_cast<std::size_t>(index(a))]; }
  Bytes arena_size() const { return arena_size_; }

 private:
  Contraction contraction_;
  Schedule schedule_;
  Spine spine_;
  std::size_t block_depth_ = 0;
  std::array<std::array<std::vector<std::int64_t>, 4>, 3> offsets_;
  std::array<std::optional<PackPlan>, 2> packs_;
  std::array<Bytes, array_count> bases_{};
  Bytes arena_size_{};
};

// For each entry of an offset table, how many entries from it on are neighbours in memory (>= 1).
// Empty for a null table.
std::vector<std::int64_t> contiguous_runs(const std::int64_t* offsets, std::int64_t count);

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

// Calls f(Range m, Range n, std::int64_t left_offset, std::int64_t right_offset) for each kernel
// call of a block, in order.
template <class F>
void for_each_call(const KernelBlock& block, F&& f);

// Calls f(std::span<const PackBlock>) for all pieces of one pack, in the order in which it is
// filled. Blocks named together have as many columns each and read neighbours: for every column,
// the rows are read one by one for all blocks, then every block's column is written.
template <class F>
void for_each_block(const PackPlan& pack, const Tile& tile, F&& f);

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
      case Step::Kind::pack:
        visitor_.pack(*plan_.pack(s.tensor), tile_);
        return s.tensor == plan_.left() ? step(depth + 1, 0, right) : step(depth + 1, left, 0);
      case Step::Kind::kernel:
        if constexpr (requires { visitor_.kernel(KernelCall{}); }) {
          visitor_.kernel(KernelCall{&tile_, left, right, tile_[at(DimClass::k)].begin == 0});
        }
    }
  }

 private:
  void block(std::int64_t left, std::int64_t right) {
    KernelBlock b{&tile_, left, right, tile_[at(DimClass::k)].begin == 0};
    b.row_tile = tile_[at(DimClass::m)].size;
    b.column_tile = tile_[at(DimClass::n)].size;
    const auto& steps = plan_.steps();
    for (std::size_t d = plan_.block_depth(); steps[d].kind == Step::Kind::loop; ++d) {
      b.rows_inside = steps[d].group == DimClass::m;
      (b.rows_inside ? b.row_tile : b.column_tile) = steps[d].tile;
    }
    visitor_.block(b);
  }

  void loop(const Step& s, std::size_t depth, std::int64_t left, std::int64_t right) {
    Range& range = tile_[at(s.group)];
    const Range outer = range;
    // Earlier tiles of this loop fill the buffer up to here: whole tiles times the current range
    // of the operand's other group.
    const std::int64_t left_stride = left < 0 ? 0 : stride(s.group, DimClass::m, plan_.mr());
    const std::int64_t right_stride = right < 0 ? 0 : stride(s.group, DimClass::n, plan_.nr());
    for (std::int64_t i = 0; i < outer.size; i += s.tile) {
      range = {outer.begin + i, std::min(s.tile, outer.size - i)};
      const std::int64_t inner_left = left + i * left_stride;
      const std::int64_t inner_right = right + i * right_stride;
      if constexpr (requires { visitor_.skips(Iteration{}); }) {
        if (visitor_.skips(Iteration{depth, &tile_, inner_left, inner_right})) continue;
      }
      step(depth + 1, inner_left, inner_right);
      if constexpr (requires { visitor_.done(depth); }) visitor_.done(depth);
    }
    range = outer;
  }

  std::int64_t stride(DimClass group, DimClass rows, std::int64_t panel) const {
    if (group == rows) return tile_[at(DimClass::k)].size;
    if (group == DimClass::k) return (tile_[at(rows)].size + panel - 1) / panel * panel;
    return 0;
  }

  const Plan& plan_;
  Visitor& visitor_;
  Tile tile_;
};

// Enumerates the blocks of one pack.
template <class F>
class Filler {
 public:
  Filler(const PackPlan& pack, const Tile& tile, F& f)
      : pack_(pack), tile_(tile), rows_(tile[at(pack.rows)]), ks_(tile[at(DimClass::k)]), f_(f) {}

  void fill() {
    const std::int64_t panel = pack_.panel, chunk = pack_.k_chunk;
    if (pack_.apart == 1) {
      const std::int64_t together = pack_.panel_group * panel;
      for (std::int64_t row = 0; row < rows_.size; row += together) {
        for (std::int64_t k = 0; k < ks_.size; k += chunk) {
          const std::int64_t end = std::min(rows_.size, row + together);
          for (std::int64_t r = row; r < end; r += panel) add(r, k, k + chunk);
          flush();
        }
      }
    } else if (pack_.along_rows) {
      for_each_sharing(rows_, panel, [&](const auto& sharing) {
        for (std::int64_t k = 0; k < ks_.size; k += chunk) {
          sharing([&](std::int64_t row, std::int64_t) { add(row, k, k + chunk); });
          flush();
        }
      });
    } else {
      for (std::int64_t row = 0; row < rows_.size; row += panel) {
        for_each_sharing(ks_, chunk, [&](const auto& sharing) {
          sharing([&](std::int64_t k, std::int64_t end) { add(row, k, end); });
          flush();
        });
      }
    }
  }

 private:
  // Cuts a range into strips of `apart` that begin at multiples of it in the fused index, takes
  // `strips` of them at a time, and the q-th step of each together.
  template <class G>
  void for_each_sharing(Range range, std::int64_t step, G&& g) {
    const std::int64_t apart = pack_.apart, wide = apart * pack_.strips;
    for (std::int64_t from = range.begin / wide * wide; from < range.begin + range.size;
         from += wide) {
      for (std::int64_t q = 0; q < std::min(apart, range.size); q += step) {
        g([&](auto&& each) {
          for (std::int64_t strip = from; strip < from + wide; strip += apart) {
            const std::int64_t place = first_step(range, strip, step) + q;
            const std::int64_t end = std::min(strip + apart - range.begin, range.size);
            if (place < end) each(place, std::min(place + step, end));
          }
        });
      }
    }
  }

  // The first beginning of a step within the strip, counted from the range's beginning. A step
  // belongs to the strip in which it begins; along rows steps are micropanels and begin at whole
  // ones.
  std::int64_t first_step(Range range, std::int64_t strip, std::int64_t step) const {
    const std::int64_t from = std::max<std::int64_t>(0, strip - range.begin);
    return pack_.along_rows ? (from + step - 1) / step * step : from;
  }

  // Columns from k to `end` of the micropanel at a row, yet to be named.
  struct Piece {
    std::int64_t row, k, end;
  };

  void add(std::int64_t row, std::int64_t k, std::int64_t end) {
    pieces_.push_back({row, k, std::min(end, ks_.size)});
  }

  // Names the pieces, cut so that all have as many columns and none crosses the end of an innermost
  // tile of k: micropanels are contiguous only within those.
  void flush() {
    while (!pieces_.empty()) {
      std::int64_t size = pieces_.front().end - pieces_.front().k;
      for (const Piece& p : pieces_)
        size = std::min({size, p.end - p.k, pack_.columns_left(tile_, p.k)});
      blocks_.clear();
      for (Piece& p : pieces_) {
        blocks_.push_back({rows_.begin + p.row, std::min(pack_.panel, rows_.size - p.row),
                           ks_.begin + p.k, size, pack_.offset(tile_, p.row, p.k)});
        p.k += size;
      }
      f_(std::span<const PackBlock>(blocks_));
      std::erase_if(pieces_, [](const Piece& p) { return p.k == p.end; });
    }
  }

  const PackPlan& pack_;
  const Tile& tile_;
  Range rows_, ks_;
  F& f_;
  std::vector<Piece> pieces_;
  std::vector<PackBlock> blocks_;
};

}  // namespace detail

template <class F>
void for_each_block(const PackPlan& pack, const Tile& tile, F&& f) {
  detail::Filler<std::remove_reference_t<F>>(pack, tile, f).fill();
}

template <class F>
void for_each_call(const KernelBlock& block, F&& f) {
  const Range m = (*block.tile)[at(DimClass::m)], n = (*block.tile)[at(DimClass::n)];
  const std::int64_t kc = (*block.tile)[at(DimClass::k)].size;
  const std::int64_t left_stride = block.left_offset < 0 ? 0 : kc;
  const std::int64_t right_stride = block.right_offset < 0 ? 0 : kc;
  const auto call = [&](std::int64_t i, std::int64_t j) {
    f(Range{m.begin + i, std::min(block.row_tile, m.size - i)},
      Range{n.begin + j, std::min(block.column_tile, n.size - j)},
      block.left_offset + i * left_stride, block.right_offset + j * right_stride);
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
