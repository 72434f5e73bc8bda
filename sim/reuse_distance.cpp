#include "sim/reuse_distance.hpp"

#include <algorithm>

namespace tcsim::sim {

void ReuseDistance::compact(std::uint64_t current) {
  std::vector<std::pair<std::size_t, Last*>> order;
  order.reserve(last_.size());
  for (auto& [line, last] : last_) {
    if (line != current) order.emplace_back(last.time, &last);
  }
  std::ranges::sort(order, {}, [](const auto& o) { return o.first; });
  tree_.assign(std::max(smallest, 2 * last_.size()) + 1, 0);
  now_ = 0;
  for (const auto& [time, last] : order) {
    last->time = ++now_;
    add(now_, 1);
  }
}

}  // namespace tcsim::sim
