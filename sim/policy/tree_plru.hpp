// Tree pseudo-LRU: a binary tree over the ways with a bit at each node that points to the half to
// take the next victim from; a use turns the bits above its way to the other half. Where a node's
// ways are odd in number its left half is the smaller one.
#pragma once

#include <vector>

#include "sim/policy/policy.hpp"

namespace tcsim::sim {

class TreePlru {
 public:
  TreePlru(std::int64_t sets, std::uint32_t ways, std::uint64_t)
      : ways_(ways), to_right_(std::size_t(sets) * ways) {}
  void filled(std::int64_t set, std::uint32_t way) { used(set, way); }
  void used(std::int64_t set, std::uint32_t way) {
    walk([&](std::uint32_t middle) {
      const bool right = way >= middle;
      to_right_[place(set, ways_, middle)] = !right;
      return right;
    });
  }
  void emptied(std::int64_t, std::uint32_t) {}
  std::uint32_t victim(std::int64_t set) const {
    return walk([&](std::uint32_t middle) { return to_right_[place(set, ways_, middle)] != 0; });
  }
  std::uint64_t age(std::int64_t, std::uint32_t) const { return 0; }

 private:
  // From the root to a way. A node is known by the first way of its right half: no two share one.
  template <class GoesRight>
  std::uint32_t walk(GoesRight&& goes_right) const {
    std::uint32_t from = 0, to = ways_;
    while (to - from > 1) {
      const std::uint32_t middle = from + (to - from) / 2;
      (goes_right(middle) ? from : to) = middle;
    }
    return from;
  }

  std::uint32_t ways_;
  std::vector<std::uint8_t> to_right_;
};

}  // namespace tcsim::sim
