// Whether a line survives in a set-associative LRU cache while a window of other lines passes:
// it does if fewer than `ways` of them fall into its set. Lines that lie side by side in memory
// spread over consecutive sets, so each contiguous run puts floor or ceil of (run / sets) lines
// into a given set; runs are taken to begin anywhere (docs/design.md, "From lines to hits").
#pragma once

#include <cstdint>
#include <span>

#include "core/model/set_counts.hpp"

namespace tcsim {

struct SetAssociative {
  double sets = 1;
  std::int64_t ways = 1;
  double lines() const { return sets * static_cast<double>(ways); }
};

// Lines of one array in a window: `lines` in all, in runs of `run` lines; or, where `counts` is not
// null, falling on the sets as a tile of counts->lines lines does.
struct WindowPart {
  double lines = 0;
  double run = 1;
  const SetCounts* counts = nullptr;
  // The line asked for belongs to this array: its set is likelier to be one that holds many.
  bool own = false;
};

// Probability in [0, 1] that a line is gone when it is touched again after a window of `parts`.
// A fully associative cache (one set) answers 0 or 1.
double miss_probability(const SetAssociative& cache, std::span<const WindowPart> parts);

}  // namespace tcsim
