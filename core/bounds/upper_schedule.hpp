// An upper bound as a schedule that the simulator can run.
//
// A schedule's groups are fused (core/schedule/schedule.hpp): a dimension of a group is only tiled
// where those that run faster are whole, and those that run slower go one by one. For a contraction
// that is no loss, since its groups are the fused nest's dimensions. A convolution's tiles are the
// best of those that can be said so, and its bound may be above upper_bound().
#pragma once

#include <optional>

#include "core/bounds/upper.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bounds {

struct ScheduledBound {
  UpperBound bound;   // without real tile sizes, which no schedule has
  Schedule schedule;  // its kernel is 1 x 1: within a tile the order does not matter
  // Elements with which a fully associative LRU cache moves no more than the bound: it keeps what
  // was used last, not what will be used next. Enough, and not always needed.
  double lru_capacity = 0;
};

// Nothing where not even one multiply-add has its elements in the store together.
std::optional<ScheduledBound> scheduled_upper_bound(const Contraction& contraction, Moves moves,
                                                    double capacity);

// Between two uses of an element that the bound keeps, at most so many elements are used.
double lru_capacity(const Nest& nest, const Tiling& tiling, const NestCost& cost);

}  // namespace tcsim::bounds
