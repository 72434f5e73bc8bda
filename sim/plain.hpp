// Simulates a plan on plain caches (is_plain() in sim/config.hpp): vectorised, on several threads,
// repeating what happened before.
#pragma once

#include "sim/simulate.hpp"

namespace tcsim::sim {

// `config` is plain and has passed check(), also by the plan (sim/simulate.cpp).
Simulation simulate_plain(const Plan& plan, const SystemConfig& config,
                          const SimulationOptions& options);

}  // namespace tcsim::sim
