// A bound's schedules (core/bounds/curve.hpp) in LRU caches: what a cache that keeps what was used
// last moves, beside what a store that keeps what will be used again does.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/bounds/curve.hpp"
#include "sim/lru_store.hpp"

namespace tcsim {

// Capacities whose schedules LRU caches of these may run as they are: 0.7 and 0.5 of them.
std::vector<std::int64_t> lru_schedule_capacities(std::span<const std::int64_t> capacities);

// For each capacity, counted exactly in a fully associative LRU cache with lines of one element: of
// the points' schedules that need no more than that (ScheduledBound::lru_capacity) the one that
// moves least. Nothing where there is none. Each takes some 30 ns a multiply-add. Heeds StopScope.
std::vector<std::optional<StoreCounts>> lru_curve(const Contraction& contraction,
                                                  std::span<const bounds::BoundPoint> points,
                                                  std::span<const std::int64_t> capacities,
                                                  const std::function<void(double)>& progress = {});

}  // namespace tcsim
