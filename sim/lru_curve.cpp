#include "sim/lru_curve.hpp"

#include <algorithm>
#include <cmath>

namespace tcsim {

std::vector<std::int64_t> lru_schedule_capacities(std::span<const std::int64_t> capacities) {
  std::vector<std::int64_t> smaller;
  for (const double share : {0.7, 0.5}) {
    for (std::int64_t s : capacities) {
      smaller.push_back(std::max<std::int64_t>(1, std::llround(share * static_cast<double>(s))));
    }
  }
  return smaller;
}

std::vector<std::optional<StoreCounts>> lru_curve(const Contraction& contraction,
                                                  std::span<const bounds::BoundPoint> points,
                                                  std::span<const std::int64_t> capacities,
                                                  const std::function<void(double)>& progress) {
  std::vector<std::optional<StoreCounts>> counts;
  for (std::int64_t capacity : capacities) {
    const bounds::ScheduledBound* best = nullptr;
    for (const bounds::BoundPoint& from : points) {
      if (!from.schedule || from.schedule->lru_capacity > static_cast<double>(capacity)) {
        continue;
      }
      if (!best || from.schedule->bound.cost.moved < best->bound.cost.moved) {
        best = &*from.schedule;
      }
    }
    counts.emplace_back();
    if (best) {
      counts.back() = run_in_lru_store(Plan(contraction, best->schedule), Elements(capacity));
    }
    if (progress) {
      progress(static_cast<double>(counts.size()) / static_cast<double>(capacities.size()));
    }
  }
  return counts;
}

}  // namespace tcsim
