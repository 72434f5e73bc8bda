// Whether caches keep a line while a window of others passes: what each array has in the window,
// and how that falls on the sets (docs/design.md, "From lines to hits").
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/execution.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/model/set_counts.hpp"
#include "core/model/window.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Caches that the window model covers, at most.
inline constexpr std::size_t max_levels = 8;
using PerLevel = std::array<double, max_levels>;

// Of a nest on a machine's caches.
class Evictions {
 public:
  // Nest and counter must outlive it. `margin` and `detail`: as window_traffic() takes them.
  Evictions(const Contraction& contraction, const Machine& machine, const Nest& nest,
            SetCounter& counter, double margin, Detail detail);

  std::size_t levels() const { return caches_.size(); }
  const std::vector<SetAssociative>& caches() const { return caches_; }

  // What lies around a class of touches: the array asked for, the node whose executions are apart,
  // which arrays its executions show different lines of, and the group of the loop around it.
  struct Setting {
    ArrayId x;
    const Execution& window;
    int d;
    const ByArray<bool>& moves_on;
    DimClass outer;
    const PerArray* most = nullptr;  // lines that two neighbouring executions touch, if known
  };

  // Chance at every level that the line is gone after the window between the sides.
  PerLevel gone(const Setting& at, const Execution::Sides& sides);
  // Of all questions since the last call: whether one of the windows was neither far smaller nor
  // far larger than the cache, so that it may depend on where arrays lie whether the line is gone.
  std::array<bool, max_levels> take_open();

 private:
  // What an array has in a window. Of an operand that moves on, what is left of the earlier tile
  // and what has come of the later one are different steps of k, and fall on the sets as one tile
  // does. Of C they are two tiles.
  struct Parts {
    std::array<WindowPart, max_arrays + 1> all;
    std::array<ArrayId, max_arrays + 1> array;
    std::array<bool, max_arrays + 1> of_earlier;  // what a tile ends with; else what it begins with
    std::array<Extents, max_arrays + 1> box;      // that is counted in place of the part
    std::size_t size = 0;
    double lines = 0;

    void clear() { size = 0, lines = 0; }
    void add(ArrayId a, double n, double run, bool own, bool earlier = false) {
      all[size] = {n, run, nullptr, own};
      of_earlier[size] = earlier;
      array[size++] = a;
      lines += n;
    }
  };

  // The window's parts where those of tensors in place are one: how they fall on the sets together.
  struct Placed {
    SetCounts together;
    std::array<WindowPart, max_arrays + 1> parts;
    std::size_t size = 0;
    double miss_probability(const SetAssociative& cache);
  };

  void find_parts(const Setting& at, const Execution::Sides& sides);
  void count_sets(const Setting& at, const SetAssociative* cache);
  std::optional<Placed> place_together(const Setting& at, const SetAssociative& cache);
  void find_places(PlacedTile& tile, TensorId t, const Extents& node, DimClass outer, int later,
                   const Extents& from) const;

  const Nest& nest_;
  const Arrays& arrays_;
  SetCounter& counter_;
  double margin_;
  Detail detail_;
  const std::vector<SetAssociative> caches_;
  Bytes element_;
  std::int64_t line_;  // in elements
  ByTensor<Bytes> tensor_places_;
  std::array<bool, max_levels> open_{};
  Parts parts_;  // of the window that is looked at
};

}  // namespace tcsim
