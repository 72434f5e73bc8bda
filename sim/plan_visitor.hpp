// Turns a plan's packs and kernels into the accesses that the core makes, at the executor's
// addresses; docs/simulator.md, "Order of accesses". A Sink gets them:
//   void enter(Phase)
//   void begin_row()      what follows is another row or column of an operand
//   template <bool write> void touch(ArrayId, std::uint64_t address, std::int64_t bytes)
//                         elements side by side, in order
//   void read(const TwoStreams&)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/traffic.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"
#include "sim/hierarchy.hpp"

namespace tcsim::sim {

// What a walk adds up beside the caches.
struct Tally {
  LinkTraffic registers;  // bytes that the core loads and stores
  double multiply_adds = 0;
};

template <class Sink>
class PlanVisitor {
 public:
  PlanVisitor(const Plan& plan, Sink& sink)
      : plan_(plan), sink_(sink), element_(plan.element().value()) {
    tally_.registers = LinkTraffic(plan.arrays());
    for (TensorId t : all_tensors) {
      read_as_[t] = plan.pack(t) ? plan.pack(t)->buffer : array_of(t);
      for (DimClass g : all_dim_classes) {
        runs_[t][g] = Runs::of_neighbours(plan.offsets(t, g));
      }
    }
  }

  Tally& tally() { return tally_; }

  void pack(const PackPlan& pack, const Tile& tile) {
    sink_.enter(Phase::packing);
    const std::int64_t start = plan_.source_of(pack, tile);
    const Offsets& places = plan_.offsets(pack.tensor, DimClass::batch);
    for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
      for_each_place(pack, tile, places, [&](std::int64_t shift, std::int64_t destination) {
        if (blocks.size() > 1) {
          pack_together(pack, blocks, start + shift, destination);
        } else {
          pack_alone(pack, blocks.front(), start + shift, destination);
        }
        for (const PackBlock& block : blocks) {
          registers(Phase::packing, array_of(pack.tensor)).in +=
              Bytes(block.rows * block.k_size * element_);
          registers(Phase::packing, pack.buffer).out += Bytes(pack.panel * block.k_size * element_);
        }
      });
    });
    sink_.enter(Phase::compute);
  }

  void kernel(const KernelCall& call) {
    const Tile& tile = *call.tile;
    const Interval ms = tile[DimClass::m], ns = tile[DimClass::n], ks = tile[DimClass::k];
    const std::int64_t batch = tile[DimClass::batch].begin;
    const TensorId left = plan_.left(), right = plan_.right();
    const bool left_packed = call.left_offset >= 0, right_packed = call.right_offset >= 0;
    const DimClass right_rows = plan_.path().rows_of(right);
    const std::int64_t right_panel = plan_.path().panel_of(right);
    if (left_packed && right_packed) {
      const ArrayId left_array = read_as_[left], right_array = read_as_[right];
      sink_.read(TwoStreams{
          address(left_array, call.left_offset), address(right_array, call.right_offset),
          static_cast<std::uint32_t>(plan_.mr() * element_),
          static_cast<std::uint32_t>(right_panel * element_), left_array, right_array, ks.size});
    } else {
      const std::int64_t left_start = plan_.offset(left, DimClass::batch, batch);
      const std::int64_t right_start = plan_.offset(right, DimClass::batch, batch);
      for (std::int64_t p = 0; p < ks.size; ++p) {
        touch_operand(left, DimClass::m, ms, call.left_offset, plan_.mr(), p, ks, left_start);
        if (plan_.lanes() && !right_packed) {
          touch_lanes(ms, ns, right_start + plan_.offset(right, DimClass::k, ks.begin + p));
        } else {
          touch_operand(right, right_rows, tile[right_rows], call.right_offset, right_panel, p, ks,
                        right_start);
        }
      }
    }
    const std::int64_t c_start = plan_.offset(TensorId::C, DimClass::batch, batch);
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      touch_row<true>(TensorId::C, DimClass::m, ms,
                      c_start + plan_.offset(TensorId::C, DimClass::n, n));
    }
    count_loads(left, (left_packed ? plan_.mr() : ms.size) * ks.size);
    const std::int64_t columns = plan_.lanes() ? ms.size * ns.size : ns.size;
    count_loads(right, (right_packed ? right_panel : columns) * ks.size);
    Moved& c = registers(Phase::compute, ArrayId::C);
    c.out += Bytes(ms.size * ns.size * element_);
    if (!call.first_writer) c.in += Bytes(ms.size * ns.size * element_);
    tally_.multiply_adds += static_cast<double>(ms.size * ns.size * ks.size);
  }

 private:
  // The source row by row or column by column, then the block from beginning to end, `shift`
  // further.
  void pack_alone(const PackPlan& pack, const PackBlock& block, std::int64_t start,
                  std::int64_t shift) {
    const bool along_k = !pack.along_rows;
    const Interval rows{block.row, block.rows}, ks{block.k, block.k_size};
    const DimClass outer = along_k ? pack.rows : DimClass::k;
    const DimClass inner = along_k ? DimClass::k : pack.rows;
    const Interval outer_range = along_k ? rows : ks, inner_range = along_k ? ks : rows;
    for (std::int64_t i = 0; i < outer_range.size; ++i) {
      touch_row<false>(pack.tensor, inner, inner_range,
                       start + plan_.offset(pack.tensor, outer, outer_range.begin + i));
    }
    sink_.begin_row();
    touch<true>(pack.buffer, block.destination + shift, pack.panel * block.k_size);
  }

  // Blocks that share source lines: column by column, rows of all blocks in turn, then the columns.
  void pack_together(const PackPlan& pack, std::span<const PackBlock> blocks, std::int64_t start,
                     std::int64_t shift) {
    const ArrayId source = array_of(pack.tensor);
    const Offsets& row_offsets = plan_.offsets(pack.tensor, pack.rows);
    const Offsets& k_offsets = plan_.offsets(pack.tensor, DimClass::k);
    for (std::int64_t p = 0; p < blocks.front().k_size; ++p) {
      sink_.begin_row();
      for (std::int64_t r = 0; r < pack.panel; ++r) {
        for (const PackBlock& block : blocks) {
          if (r >= block.rows) continue;
          touch<false>(source, start + row_offsets[block.row + r] + k_offsets[block.k + p], 1);
        }
      }
      for (const PackBlock& block : blocks) {
        sink_.begin_row();
        touch<true>(pack.buffer, block.destination + shift + p * pack.panel, pack.panel);
      }
    }
  }

  std::uint64_t address(ArrayId a, std::int64_t element) const {
    return static_cast<std::uint64_t>(plan_.base(a).value() + element * element_);
  }
  template <bool write>
  void touch(ArrayId a, std::int64_t first, std::int64_t count) {
    sink_.template touch<write>(a, address(a, first), count * element_);
  }

  // Touches the tensor's elements of one range of a group, one by one; `start` is the offset of
  // the other groups.
  template <bool write>
  void touch_row(TensorId t, DimClass group, Interval range, std::int64_t start) {
    const Offsets& offsets = plan_.offsets(t, group);
    const Runs& runs = runs_[t][group];
    const std::int64_t end = range.begin + range.size;
    sink_.begin_row();
    for (std::int64_t i = range.begin; i < end;) {
      const std::int64_t count = std::min(runs[i], end - i);
      touch<write>(array_of(t), start + offsets[i], count);
      i += count;
    }
  }

  // Column (or row) p of one operand of a kernel, packed at `offset` or in place.
  void touch_operand(TensorId t, DimClass group, Interval range, std::int64_t offset,
                     std::int64_t panel, std::int64_t p, Interval ks, std::int64_t start) {
    if (offset >= 0) {
      sink_.begin_row();
      touch<false>(read_as_[t], offset + p * panel, panel);
    } else {
      touch_row<false>(t, group, range, start + plan_.offset(t, DimClass::k, ks.begin + p));
    }
  }

  // The right operand's columns at one place along k, for each lane one of its own.
  void touch_lanes(Interval ms, Interval ns, std::int64_t start) {
    for (std::int64_t n = ns.begin; n < ns.begin + ns.size; ++n) {
      touch_row<false>(plan_.right(), DimClass::m, ms,
                       start + plan_.offset(plan_.right(), DimClass::n, n));
    }
  }

  Moved& registers(Phase p, ArrayId a) { return tally_.registers.at(p, a); }
  void count_loads(TensorId t, std::int64_t loads) {
    registers(Phase::compute, read_as_[t]).in += Bytes(loads * element_);
  }

  const Plan& plan_;
  Sink& sink_;
  std::int64_t element_;
  Tally tally_;
  ByTensor<ArrayId> read_as_;  // where kernels find a tensor: its buffer, or itself
  ByTensor<ByGroup<Runs>> runs_;
};

}  // namespace tcsim::sim
