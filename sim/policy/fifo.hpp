// First in, first out: the line leaves that came first, however often it was used since.
#pragma once

#include "sim/policy/recency.hpp"

namespace tcsim::sim {

class Fifo {
 public:
  Fifo(std::int64_t sets, std::uint32_t ways, std::uint64_t) : order_(sets, ways) {}
  void filled(std::int64_t set, std::uint32_t way) { order_.bring_to_front(set, way); }
  void used(std::int64_t, std::uint32_t) {}
  void emptied(std::int64_t, std::uint32_t) {}
  std::uint32_t victim(std::int64_t set) const { return order_.last(set); }
  std::uint64_t age(std::int64_t set, std::uint32_t way) const { return order_.brought(set, way); }

 private:
  Recency order_;
};

}  // namespace tcsim::sim
