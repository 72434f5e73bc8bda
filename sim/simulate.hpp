// Exact cache simulation of a plan on a machine: the plan is walked, every access of its packs and
// kernels becomes cache-line touches at the executor's addresses, and they run through the
// machine's set-associative levels. See sim/hierarchy.hpp for the rules of a level, and
// docs/simulator.md for the order of accesses within a kernel and a pack.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/traffic.hpp"
#include "core/schedule/plan.hpp"

namespace tcsim {

// Lines that a level answered, by what happened; summed over arrays and phases.
struct LevelCounts {
  Lines hits, misses, write_backs;
  bool operator==(const LevelCounts&) const = default;
};

struct Simulation {
  Traffic traffic;                  // one link per machine level
  std::vector<LevelCounts> levels;  // one per cache
  Lines touches;                    // line touches that the core issued

  bool operator==(const Simulation&) const = default;
};

struct SimulationOptions {
  // Called now and then with the share of the multiply-adds that is done, in [0, 1].
  std::function<void(double)> progress;
  // Asked to stop, simulate() throws Interrupted.
  std::stop_token stop;
};

// Dirty lines are drained at the end, so that every byte written reaches memory. Throws
// UnsupportedError for a machine that asks for what is not simulated (a replacement, inclusion or
// write policy other than LRU, neither, write-back with write-allocate), or for lines of different
// size in one machine.
Simulation simulate(const Plan& plan, const Machine& machine,
                    const SimulationOptions& options = {});

}  // namespace tcsim
