// Exact cache simulation of a chain whose tensors are all in memory: every leaf of its fused
// schedule is walked as a contraction of its own is (sim/simulate.hpp), one after another on the
// same caches, each at the addresses of its tiles. Caches begin empty and are drained at the end.
#pragma once

#include "core/fusion/cached.hpp"
#include "sim/simulate.hpp"

namespace tcsim {

struct ChainSimulation {
  fusion::ChainTraffic traffic;
  Lines touches;           // line touches that the core issued
  std::int64_t calls = 0;  // of leaves
  bool operator==(const ChainSimulation&) const = default;
};

// The schedule must have passed check_cached(); it runs on one core of the machine of `schedules`.
// Of the options progress and stop count. Throws as simulate() does, and as MemoryMap.
ChainSimulation simulate_chain(const fusion::FusedNode& node, fusion::LeafSchedules& schedules,
                               const SimulationOptions& options = {});

}  // namespace tcsim
