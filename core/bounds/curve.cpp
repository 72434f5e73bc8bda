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
  for (std::int64_t capacity : capacities) {
    if (options.stop.stop_requested()) break;
    const auto elements = static_cast<double>(capacity);
    points.push_back({capacity, lower.at(options.moves, capacity), upper_bound(nest, elements),
                      scheduled_upper_bound(contraction, options.moves, elements)});
    if (options.progress) {
      options.progress(static_cast<double>(points.size()) / static_cast<double>(capacities.size()));
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
  for (std::size_t i = by_capacity.size(); i > 1; --i) {
    const LowerNumber& larger = points[by_capacity[i - 1]].lower;
    LowerNumber& smaller = points[by_capacity[i - 2]].lower;
    if (larger.elements > smaller.elements) smaller = larger;
  }
  return points;
}

}  // namespace tcsim::bounds
