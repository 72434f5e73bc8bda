// The model's view of a schedule: a path of loops with packs hanging off it, and for any part of
// it how many distinct cache lines of each array one execution touches. Loops whose tiles do not
// divide their range run over ranges of several sizes; extents_before() lists them with how often
// each occurs, so that visits are counted exactly (docs/design.md, "Exact counts, then windows").
#pragma once

#include <array>
#include <vector>

#include "core/model/tile_lines.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/path.hpp"

namespace tcsim {

// Lines (or another additive count) per array.
using PerArray = ByArray<double>;

double sum_of(const PerArray& lines);
// In a tile with so many of each group.
double indices_in(const Extents& extents);

class Nest {
 public:
  // `line` in bytes. Throws TooLargeError for a contraction whose tensors are too large to count.
  Nest(const Contraction& contraction, const Schedule& schedule, Bytes line);

  const Path& path() const { return path_; }
  int depth() const { return static_cast<int>(path_.steps.size()); }  // the kernel is depth() - 1
  const Step& step(int d) const { return path_.steps[static_cast<std::size_t>(d)]; }

  const Arrays& arrays() const { return arrays_; }
  // The array in which kernels find a tensor: its buffer, or itself.
  ArrayId read_as(TensorId t) const {
    return pack_depth(t) < 0 ? array_of(t) : arrays_.made_at(pack_depth(t));
  }

  // Depth of a tensor's Pack, or -1 where the kernel reads the tensor in place (C: always).
  int pack_depth(TensorId t) const { return pack_depth_[t]; }

  // Whether different iterations of the loop at depth d touch different lines of each array.
  const ByArray<bool>& follows(int d) const { return follows_[static_cast<std::size_t>(d)]; }
  bool follows(ArrayId a, int d) const { return follows(d)[a]; }

  // Whether tiles of the array may share elements.
  bool overlaps(ArrayId a) const {
    return !arrays_.is_buffer(a) && tile_lines(arrays_.tensor_of(a)).overlaps();
  }

  // Of all groups, as the first step finds them.
  Extents whole() const;

  // Sizes of the ranges that step d finds for a group, and how many times each.
  struct Occurrence {
    std::int64_t size, times;
  };
  const std::vector<Occurrence>& ranges(int d, DimClass g) const {
    return ranges_[static_cast<std::size_t>(d)][g];
  }
  // How many ranges of a group there are at depth d: tiles of all sizes.
  std::int64_t tiles(int d, DimClass g) const;

  // Extents at every depth from `from` on, when step `from` finds `extents` and every loop runs
  // whole tiles, or average ones where it has two sizes. Indexed by depth.
  std::vector<Extents> narrowed(int from, const Extents& extents) const;

  // Distinct lines of each array that the steps from depth d on touch, given what narrowed() has
  // from there on.
  PerArray lines(int d, const std::vector<Extents>& narrowed) const;

  // Whether its buffers are of sizes that a plan may have.
  bool has_plan() const { return has_plan_; }

  // Of a copy of e indices of t, which of its parts are read whole before they are written, as a
  // share of it; 0 where reading and writing take turns.
  double read_at_once(TensorId t, const Extents& e) const;

  // Lines of a tensor in a tile, and of its packed copy.
  double tensor_lines(TensorId t, const Extents& e) const { return tile_lines(t).lines(e); }
  double run_lines(TensorId t, const Extents& e) const { return tile_lines(t).run(e) / line_; }
  double buffer_lines(TensorId t, const Extents& e) const;
  const TileLines& tile_lines(TensorId t) const {
    return tile_lines_[static_cast<std::size_t>(index(t))];
  }

 private:
  Path path_;
  Arrays arrays_;
  double line_;                        // elements
  std::vector<TileLines> tile_lines_;  // of A, B, C
  ByTensor<int> pack_depth_{-1, -1, -1};
  // Columns that a copy reads of one micropanel before it writes them; 0 where it takes several
  // micropanels or blocks together.
  ByTensor<std::int64_t> columns_at_once_{};
  bool has_plan_ = true;
  void find_columns_at_once(const Contraction& contraction, const Schedule& schedule);

  std::vector<ByArray<bool>> follows_;
  std::vector<ByGroup<std::vector<Occurrence>>> ranges_;
};

}  // namespace tcsim
