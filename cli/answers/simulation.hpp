// A schedule's simulation, as asked for, in its result. For the command line and for the Python
// module.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/choose.hpp"
#include "cli/result.hpp"
#include "sim/simulate.hpp"
#include "sim/system.hpp"

namespace tcsim::cli {

struct SimulationRequest {
  bool attribution = false, tlb = false;
  std::optional<std::int64_t> sample;    // so many classes of sets only
  std::vector<std::string> rules;        // "L2.write_back_miss=pass"
  bool drain = true;                     // dirty lines at the end
  std::optional<std::uint64_t> seed;     // of random replacement
  std::optional<std::string> sets = {};  // the level whose sets are looked at
  std::optional<int> timeline = {};      // frames that it has at most
  TouchRange timeline_part = {};
};

// The caches of the machine with what the request says. Throws UsageError for a rule.
sim::SystemConfig system(const SimulationRequest& request, const Machine& machine, int cores = 1);

// A result with a schedule for the machine, and with its prediction where the model knows the
// machine. Empty, or why nothing is predicted.
std::string take_for_simulation(Result& result, const ScheduleRequest& request,
                                std::stop_token stop);

// Adds the simulation to a result that has its schedule. Throws as simulate(), attribute(),
// sample() and simulate_tlbs(). UsageError where there is no cache of the name request.sets.
void add_simulation(Result& result, const SimulationRequest& request, const SimulationOptions& how);
// Adds what set_use() says of request.sets, where that is given.
void add_set_use(Result& result, const SimulationRequest& request, const SimulationOptions& how);
// Likewise what timeline() says.
void add_timeline(Result& result, const SimulationRequest& request, const SimulationOptions& how);

}  // namespace tcsim::cli
