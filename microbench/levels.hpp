// Which working sets live in which level: the reported caches and the measured curves brought
// together. Pure functions of curves, so that made-up machines can be tested.
#pragma once

#include <string>
#include <vector>

#include "microbench/geometry.hpp"
#include "microbench/plateau.hpp"

namespace tcsim {

// Working sets that lie in one level alone, clear of the slopes at both of its ends.
struct LevelSpan {
  Bytes from, to;

  bool holds(Bytes b) const { return from <= b && b <= to; }
};

struct LevelSpans {
  std::vector<LevelSpan> spans;      // one for each cache, then memory
  std::vector<std::string> remarks;  // where the curves and the reported sizes disagree

  // The level in which a working set lies, or to whose end it is nearest.
  std::size_t of(Bytes working_set) const;
};

struct Curves {
  RateCurve load, load_fma_store;  // bytes per second of streams on one core
  RateCurve chase;                 // loads per second, one after another
};

// A cache's end is the step of the load stream that belongs to it, else of load-FMA-store, else of
// the chase, else what is reported. The streams come first, since a chase loses a shared cache to
// the neighbours: it takes lines more slowly than they do. The curves begin and end at the same
// working sets and have at least two points each.
LevelSpans find_levels(const std::vector<CacheGeometry>& caches, const Curves& curves);

// Points of the curve that speak for a level: the longest plateau within the span; all points of
// the span if there is none; the point nearest to its middle if the span holds none.
std::vector<std::size_t> points_of(const RateCurve& curve, const LevelSpan& span);

}  // namespace tcsim
