// Bounds over the capacity of the store: what no schedule moves less than, and the best one that is
// found. What an LRU cache moves with the same schedule is sim/lru_store.hpp's to say.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/bounds/lower.hpp"
#include "core/bounds/upper_schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bounds {

struct BoundPoint {
  std::int64_t capacity = 0;  // elements
  LowerNumber lower;          // 0 of a point that has a schedule alone
  // The upper bound, and the best schedule in an explicit store of that capacity; nothing where not
  // even one multiply-add fits.
  std::optional<UpperBound> upper;
  std::optional<ScheduledBound> schedule;
};

struct BoundCurveOptions {
  Moves moves = Moves::loads;
  std::stop_token stop = {};
  std::function<void(double)> progress = {};  // share of the points that are done
  // More capacities, whose points come behind the others and have a schedule alone: one that a
  // larger LRU cache may run as it is.
  std::span<const std::int64_t> schedules = {};
};

// A point for each capacity, in their order. Asked to stop, it returns those that are done. With
// the capacity no bound grows: what fits a smaller store fits a larger one, and what a larger one
// cannot beat is proven of a smaller one.
std::vector<BoundPoint> bound_curve(const Contraction& contraction,
                                    std::span<const std::int64_t> capacities,
                                    const BoundCurveOptions& options = {});

}  // namespace tcsim::bounds
