// Which lines a plan's packs and tiles touch, for the parts of a walk that the model counts
// (core/model/pieces.hpp, core/model/leaves.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "core/model/nest.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"

namespace tcsim {

// Calls sink.touch_line(ArrayId, std::int64_t line, bool writes) for each line, in order; a line is
// a number of the plan's arena. Lines that the sink does not look at are left out: sink.next(line)
// is the first from there on that it does. Plan and sink must outlive it.
template <class Sink>
class LineTouches {
 public:
  LineTouches(const Plan& plan, Bytes line, Sink& sink)
      : plan_(plan), sink_(sink), element_(plan.element().value()) {
    while ((std::int64_t{1} << line_bits_) < line.value()) ++line_bits_;
    for (ArrayId a : plan.arrays().ids()) begin_[a] = plan.base(a).value();
  }

  int line_bits() const { return line_bits_; }
  std::int64_t touches(ArrayId a) const { return touches_[a]; }  // of its lines until now

  // The array in which a line lies.
  ArrayId owner(std::int64_t line) const {
    ArrayId at = ArrayId::A;
    std::int64_t nearest = -1;
    for (ArrayId a : plan_.arrays().ids()) {
      const std::int64_t first = begin_[a] >> line_bits_;
      if (first <= line && first > nearest) nearest = first, at = a;
    }
    return at;
  }

  // Of so many elements of an array, from one of them on.
  void touch(ArrayId a, std::int64_t first, std::int64_t count, bool writes) {
    touch_lines(a, line_of(a, first), line_of(a, first + count - 1), writes);
  }

  // A tensor's elements of one range of a group, beside `start`; where neighbours share a line, it
  // is touched once.
  void row(TensorId t, DimClass group, Interval range, std::int64_t start) {
    const Offsets& offsets = plan_.offsets(t, group);
    std::int64_t last = -1;
    for (std::int64_t i = range.begin; i < range.begin + range.size; ++i) {
      const std::int64_t line = line_of(array_of(t), start + offsets[i]);
      if (line != last) touch_lines(array_of(t), line, line, t == TensorId::C);
      last = line;
    }
  }

  // The same of neighbours: `runs` says how many there are from each index on.
  void row(TensorId t, DimClass group, Interval range, std::int64_t start, const Runs& runs) {
    const Offsets& offsets = plan_.offsets(t, group);
    const std::int64_t end = range.begin + range.size;
    std::int64_t last = -1;
    for (std::int64_t i = range.begin; i < end;) {
      const std::int64_t size = std::min(runs[i], end - i);
      const std::int64_t first = line_of(array_of(t), start + offsets[i]);
      const std::int64_t from = first == last ? first + 1 : first;
      last = line_of(array_of(t), start + offsets[i] + size - 1);
      touch_lines(array_of(t), from, last, t == TensorId::C);
      i += size;
    }
  }

  // A pack, element by element, or what comes among the last `most` elements of each place of the
  // batch.
  void copy(const PackPlan& pack, const Tile& tile,
            std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    std::int64_t left = tile[pack.rows].size * tile[DimClass::k].size;
    const std::int64_t start = plan_.source_of(pack, tile);
    const Offsets& places = plan_.offsets(pack.tensor, DimClass::batch);
    for_each_block(pack, tile, [&](std::span<const PackBlock> blocks) {
      const bool counts = left <= most;
      for (const PackBlock& b : blocks) left -= b.rows * b.k_size;
      if (!counts) return;
      for_each_place(pack, tile, places, [&](std::int64_t shift, std::int64_t destination) {
        if (blocks.size() > 1) {
          copy_together(pack, blocks, start + shift, destination);
        } else {
          copy_alone(pack, blocks.front(), start + shift, destination);
        }
      });
    });
  }

 private:
  void touch_lines(ArrayId a, std::int64_t from, std::int64_t to, bool writes) {
    touches_[a] += to - from + 1;
    for (std::int64_t line = sink_.next(from); line <= to; line = sink_.next(line + 1)) {
      sink_.touch_line(a, line, writes);
    }
  }

  std::int64_t line_of(ArrayId a, std::int64_t element) const {
    return (begin_[a] + element * element_) >> line_bits_;
  }

  void copy_alone(const PackPlan& pack, const PackBlock& b, std::int64_t start,
                  std::int64_t shift) {
    const Interval rows{b.row, b.rows}, ks{b.k, b.k_size};
    const DimClass outer = pack.along_rows ? DimClass::k : pack.rows;
    const DimClass inner = pack.along_rows ? pack.rows : DimClass::k;
    const Interval outer_range = pack.along_rows ? ks : rows;
    for (std::int64_t i = outer_range.begin; i < outer_range.begin + outer_range.size; ++i) {
      row(pack.tensor, inner, pack.along_rows ? rows : ks,
          start + plan_.offset(pack.tensor, outer, i));
    }
    touch(pack.buffer, b.destination + shift, pack.panel * b.k_size, true);
  }

  void copy_together(const PackPlan& pack, std::span<const PackBlock> blocks, std::int64_t start,
                     std::int64_t shift) {
    const ArrayId source = array_of(pack.tensor);
    for (std::int64_t p = 0; p < blocks.front().k_size; ++p) {
      for (std::int64_t r = 0; r < pack.panel; ++r) {
        for (const PackBlock& b : blocks) {
          if (r >= b.rows) continue;
          touch(source,
                start + plan_.offset(pack.tensor, pack.rows, b.row + r) +
                    plan_.offset(pack.tensor, DimClass::k, b.k + p),
                1, false);
        }
      }
      for (const PackBlock& b : blocks) {
        touch(pack.buffer, b.destination + shift + p * pack.panel, pack.panel, true);
      }
    }
  }

  const Plan& plan_;
  Sink& sink_;
  std::int64_t element_;
  int line_bits_ = 0;
  ByArray<std::int64_t> begin_{max_arrays}, touches_{max_arrays};
};

}  // namespace tcsim
