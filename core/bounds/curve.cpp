#include "core/bounds/curve.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/workload/contraction_view.hpp"

namespace tcsim::bounds {

namespace {

// The better one, of which the first fits a smaller store.
template <class Bound, class Moved>
void keep_better(const std::optional<Bound>& smaller, std::optional<Bound>& larger, Moved&& moved) {
  if (smaller && (!larger || moved(*smaller) < moved(*larger))) larger = smaller;
}

}  // namespace

std::vector<BoundPoint> bound_curve(const Contraction& contraction,
                                    std::span<const std::int64_t> capacities,
                                    const BoundCurveOptions& options) {
  const Problem problem = problem_of(program_of(contraction));
  const LowerCurve lower(problem, sizes_of(problem));
  const Nest nest = nest_of(contraction, options.moves);
  std::vector<BoundPoint> points;
  const std::size_t all = capacities.size() + options.schedules.size();
  while (points.size() < all && !options.stop.stop_requested()) {
    const std::size_t i = points.size();
    const bool whole = i < capacities.size();
    BoundPoint point;
    point.capacity = whole ? capacities[i] : options.schedules[i - capacities.size()];
    const auto elements = static_cast<double>(point.capacity);
    if (whole) {
      point.lower = lower.at(options.moves, point.capacity);
      point.upper = upper_bound(nest, elements);
    }
    point.schedule = scheduled_upper_bound(contraction, options.moves, elements);
    points.push_back(std::move(point));
    if (options.progress) {
      options.progress(static_cast<double>(points.size()) / static_cast<double>(all));
    }
  }
  std::vector<std::size_t> by_capacity(points.size());
  std::iota(by_capacity.begin(), by_capacity.end(), std::size_t{0});
  std::stable_sort(by_capacity.begin(), by_capacity.end(), [&](std::size_t a, std::size_t b) {
    return points[a].capacity < points[b].capacity;
  });
  for (std::size_t i = 1; i < by_capacity.size(); ++i) {
    const BoundPoint& smaller = points[by_capacity[i - 1]];
    BoundPoint& larger = points[by_capacity[i]];
    keep_better(smaller.upper, larger.upper, [](const auto& b) { return b.cost.moved; });
    keep_better(smaller.schedule, larger.schedule,
                [](const auto& b) { return b.bound.cost.moved; });
    // Every schedule is one in a store of any use.
    if (larger.schedule) {
      keep_better(std::optional(larger.schedule->bound), larger.upper,
                  [](const auto& b) { return b.cost.moved; });
    }
  }
  // What a larger store cannot beat, a smaller one cannot either.
  const LowerNumber* larger = nullptr;
  for (auto i = by_capacity.rbegin(); i != by_capacity.rend(); ++i) {
    if (*i >= capacities.size()) continue;
    LowerNumber& smaller = points[*i].lower;
    if (larger != nullptr && larger->elements > smaller.elements) smaller = *larger;
    larger = &smaller;
  }
  return points;
}

}  // namespace tcsim::bounds
