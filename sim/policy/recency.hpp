// The ways of each set in an order that is changed by bringing one to the front: what LRU and FIFO
// keep. Linked lists, so that a fully associative cache of any size takes constant time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/policy/policy.hpp"

namespace tcsim::sim {

class Recency {
 public:
  Recency(std::int64_t sets, std::uint32_t ways)
      : ways_(ways), links_(static_cast<std::size_t>(sets) * ways), ends_(std::size_t(sets)) {
    for (std::int64_t set = 0; set < sets; ++set) {
      for (std::uint32_t way = 0; way < ways; ++way) {
        link(set, way) = {way == 0 ? none : way - 1, way + 1 == ways ? none : way + 1, 0};
      }
      ends_[std::size_t(set)] = {0, ways - 1};
    }
  }

  std::uint32_t last(std::int64_t set) const { return ends_[std::size_t(set)].last; }

  void bring_to_front(std::int64_t set, std::uint32_t way) {
    Ends& ends = ends_[std::size_t(set)];
    link(set, way).brought = ++clock_;
    if (ends.first == way) return;
    const Link here = link(set, way);
    link(set, here.before).after = here.after;
    (here.after == none ? ends.last : link(set, here.after).before) = here.before;
    link(set, ends.first).before = way;
    link(set, way) = {none, ends.first, clock_};
    ends.first = way;
  }

  // Grows with every call of bring_to_front: its value after the last one for this way.
  std::uint64_t brought(std::int64_t set, std::uint32_t way) const {
    return links_[place(set, ways_, way)].brought;
  }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct Link {
    std::uint32_t before = none, after = none;
    std::uint64_t brought = 0;
  };
  struct Ends {
    std::uint32_t first = 0, last = 0;
  };
  Link& link(std::int64_t set, std::uint32_t way) { return links_[place(set, ways_, way)]; }

  std::uint32_t ways_;
  std::vector<Link> links_;
  std::vector<Ends> ends_;
  std::uint64_t clock_ = 0;
};

}  // namespace tcsim::sim
