// A fully associative LRU cache with lines of one element, of any capacity: the store of the theory
// of bounds, but for what it keeps. sim/hierarchy.hpp simulates the same as a set of so many ways,
// which takes long where there are many.
#pragma once

#include "core/plan/plan.hpp"

namespace tcsim {

struct StoreCounts {
  Elements loads;   // brought, for reads and for sums that are added to
  Elements stores;  // written back, the last ones at the end
  bool operator==(const StoreCounts&) const = default;
};

// Some ten nanoseconds a touch, and nine bytes for each element of the plan's arrays. Heeds
// StopScope. Throws UnsupportedError for arrays of 2^32 elements or more.
StoreCounts run_in_lru_store(const Plan& plan, Elements capacity);

}  // namespace tcsim
