// Bit pseudo-LRU (MRU replacement): a use marks its way; when all ways are marked, the others lose
// their mark. The way of the lowest number without a mark is the victim.
#pragma once

#include <vector>

#include "sim/policy/policy.hpp"

namespace tcsim::sim {

class BitPlru {
 public:
  BitPlru(std::int64_t sets, std::uint32_t ways, std::uint64_t)
      : ways_(ways), marked_(std::size_t(sets) * ways), marks_(std::size_t(sets)) {}
  void filled(std::int64_t set, std::uint32_t way) { used(set, way); }
  void used(std::int64_t set, std::uint32_t way) {
    std::uint8_t& mark = marked_[place(set, ways_, way)];
    std::uint32_t& marks = marks_[std::size_t(set)];
    marks += mark == 0;
    mark = 1;
    if (marks < ways_) return;
    for (std::uint32_t w = 0; w < ways_; ++w) marked_[place(set, ways_, w)] = w == way;
    marks = 1;
  }
  void emptied(std::int64_t, std::uint32_t) {}
  std::uint32_t victim(std::int64_t set) const {
    std::uint32_t way = 0;
    while (way + 1 < ways_ && marked_[place(set, ways_, way)]) ++way;
    return way;
  }
  std::uint64_t age(std::int64_t, std::uint32_t) const { return 0; }

 private:
  std::uint32_t ways_;
  std::vector<std::uint8_t> marked_;
  std::vector<std::uint32_t> marks_;  // how many of a set's ways are marked
};

}  // namespace tcsim::sim
