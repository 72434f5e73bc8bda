// Simulates a plan on caches that run by blocks (runs_by_blocks() in sim/config.hpp): vectorised,
// on several threads, repeating what happened before.
#pragma once

#include <vector>

#include "sim/simulate.hpp"

namespace tcsim::sim {

// `config` runs by blocks and has passed check(), also by the plan (sim/simulate.cpp).
Simulation simulate_plain(const Plan& plan, const SystemConfig& config,
                          const SimulationOptions& options);
// A share of the sets alone, on one thread.
Traffic simulate_plain(const Plan& plan, const SystemConfig& config, Share share,
                       const SimulationOptions& options);

// The levels' counts alone. For TLBs: their lines are pages, so bytes over links would mean nothing
// and might pass 64 bits.
std::vector<LevelCounts> count_plain(const Plan& plan, const SystemConfig& config,
                                     const SimulationOptions& options);

}  // namespace tcsim::sim
