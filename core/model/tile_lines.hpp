// How many cache lines a tile of a tensor touches, in closed form. A tile takes the given number of
// consecutive fused indices of each group; in memory that is a number of contiguous runs, found by
// walking the tensor's dimensions from stride one outward for as long as the tile covers them
// whole. Runs that begin at multiples of g elements touch (run + line - g) / line lines each on
// average (acmtc-sc19, 5.4, generalised to runs that are no whole number of lines).
//
// Where an axis is a sum of two dimensions, as in a convolution's image, its different places are
// counted (different_values()): neighbouring tiles overlap, and strides leave places out.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/path.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Extents of a tile by DimClass; averages need not be whole.
using Extents = ByGroup<double>;

class TileLines {
 public:
  // Of tensor t under the grouping of a schedule; `line` in elements.
  TileLines(const Contraction& contraction, const Groups& groups, TensorId t, double line);

  // Of a row-major tensor by itself, of whose axes each is a group: the last one m, the one before
  // it n, then k; all others together are batch.
  TileLines(std::span<const std::int64_t> extents, double line);
  static Extents box(std::span<const std::int64_t> extents);

  double lines(const Extents& tile) const { return lines(tile, tile); }
  // The same where tiles begin at multiples of `unit` and not of what they are.
  double lines(const Extents& tile, const Extents& unit) const;
  // Elements that lie side by side in memory, holes of less than a line included: the run of
  // `lines`.
  double run(const Extents& tile) const;

  // Whether the tensor is no box of dimensions, so that tiles may overlap.
  bool overlaps() const { return !axes_.empty(); }
  // Different elements of the tile.
  double elements(const Extents& tile) const;

  // Where a tile's elements lie, from its first one on: within `runs`, first and last element,
  // which are sorted and leave out no line in between, shifted by each of `shifts`.
  struct Places {
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;
    std::vector<std::int64_t> shifts{0};

    std::size_t count() const { return shifts.size() * runs.size(); }
    void add_run(std::int64_t first, std::int64_t last, std::int64_t line) {
      if (!runs.empty() && first - runs.back().second <= line) {
        runs.back().second = std::max(runs.back().second, last);
      } else {
        runs.emplace_back(first, last);
      }
    }
    void shift_by(const std::vector<std::int64_t>& offsets);
  };
  // Extents must be whole.
  Places places(const Extents& tile) const {
    return overlaps() ? overlapping_places(tile) : box_places(tile);
  }
  // Calls f(first line number, lines) for the tile that begins at element `begin` of the tensor: so
  // many consecutive lines each time. A line that two rows share is named twice where other
  // strides than one are no whole lines.
  template <class F>
  void for_each_run(const Places& places, std::int64_t begin, F&& f) const;
  // Elements of a line that tiles of these extents may begin at, a few of them evenly spread where
  // there are many: {0} if all begin at whole lines.
  std::vector<std::int64_t> beginnings(const Extents& tile) const;
  // Indices of the fused group that the tensor has, 1 for one that it lacks.
  std::int64_t extent(DimClass group) const {
    std::int64_t n = 1;
    for (const Dim& d : dims_) {
      if (d.group == group) n *= static_cast<std::int64_t>(d.extent);
    }
    return n;
  }
  // Elements from the tensor's first one to the index of a fused group.
  std::int64_t place(DimClass group, std::int64_t at) const {
    std::int64_t element = 0;
    for (const Dim& d : dims_) {
      if (d.group != group) continue;
      element += at / static_cast<std::int64_t>(d.before) % static_cast<std::int64_t>(d.extent) *
                 static_cast<std::int64_t>(d.stride);
    }
    return element;
  }
  // Steps of the fused group from one index of a dimension to its next, and to the next that has
  // places in common, ascending: so far apart are tiles that share a part.
  std::vector<double> steps(DimClass group) const;
  // A hash of all that decides line numbers.
  std::uint64_t shape() const { return shape_; }

  // Indices of the fused `group` that are this many steps apart share a line (the innermost of its
  // dimensions with a stride below a line decides, of those that `tile` indices do not have whole);
  // 0 for a group where none do.
  double apart(DimClass group, double tile = 1) const {
    for (const Dim& d : dims_) {
      if (d.group == group && d.extent > 1 && d.stride < line_ && tile < d.before * d.extent) {
        return d.before;
      }
    }
    return 0;
  }

 private:
  struct Dim {
    DimClass group;
    double before;  // extents of the group's faster dimensions, multiplied
    double extent;
    double stride;
    // The same as `before` without dimensions with a smaller stride.
    double left_before = 1;
    // Whether no slower dimension of the group has a larger stride.
    bool slowest = true;
  };
  struct Runs {
    double length;      // elements of one run
    double aligned_to;  // runs begin at multiples of so many elements
    bool everything;    // the tile is the whole tensor, one run
    double count;       // of runs

    void begin_at_multiples_of(double step);
  };
  // An axis of a tensor that overlaps: its dimensions, and what they are multiplied with.
  struct Axis {
    Dim first, second;  // the second has extent 1 where there is none
    std::int64_t first_coefficient = 1, second_coefficient = 1;
    double extent = 1, stride = 1;
  };
  static double covered(const Dim& d, const Extents& tile) {
    return std::clamp(tile[d.group] / d.before, 1.0, d.extent);
  }
  // What a tile of so many indices of d's group takes of d, on average over where it begins.
  struct Cover {
    double pieces;  // neighbouring places along d, for each index of the others one piece or more
    double whole;   // of these, such as are all of d
    double step;    // pieces begin at multiples of so many places
  };
  static Cover cover(const Dim& d, double indices, double unit);
  static double places(const Axis& axis, const Extents& tile);
  // So many pieces of `length` neighbouring places, each `apart` from the next.
  struct Pieces {
    double count, length, apart;
    double span() const { return (count - 1) * apart + length; }
  };
  static Pieces pieces(const Axis& axis, const Extents& tile);
  void merge_neighbours();
  void find_neighbours();
  void add_axes(const Contraction& contraction, TensorId t);
  Runs runs(const Extents& tile, const Extents& unit) const;
  struct LinesAndRun {
    double lines, run;
  };
  LinesAndRun lines_and_run(const Extents& tile, const Extents& unit) const;
  Runs overlapping_runs(const Extents& tile) const;
  double overlapping_lines(const Extents& tile) const;
  double lines_of_run(double length, double aligned_to) const;
  // Offsets of the group's indices 0 .. extent - 1.
  std::vector<std::int64_t> offsets(DimClass group, double extent) const;
  // The same as runs, in no order.
  std::vector<std::pair<std::int64_t, std::int64_t>> offset_runs(DimClass group,
                                                                 double extent) const;
  std::vector<const Dim*> dims_of(DimClass group) const;  // the fastest first
  Places box_places(const Extents& tile) const;
  Places overlapping_places(const Extents& tile) const;

  std::vector<Dim> dims_;   // from stride one outward
  std::vector<Axis> axes_;  // likewise; none where dims_ tell all
  ByGroup<bool> indexed_{};
  double line_;
  std::uint64_t shape_ = 0;
};

template <class F>
void TileLines::for_each_run(const Places& places, std::int64_t begin, F&& f) const {
  // Lines are powers of two long, and a shift is much quicker than a division.
  const int shift = std::countr_zero(static_cast<std::uint64_t>(line_));
  for (std::int64_t a : places.shifts) {
    a += begin;
    for (const auto& [first, last] : places.runs) {
      const std::int64_t from = (a + first) >> shift;
      f(from, ((a + last) >> shift) - from + 1);
    }
  }
}

}  // namespace tcsim
