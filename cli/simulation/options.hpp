// What the options of a simulation ask for.
#pragma once

#include <optional>

#include "cli/answers/simulation.hpp"
#include "cli/command.hpp"
#include "cli/result.hpp"
#include "sim/simulate_trace.hpp"
#include "sim/system.hpp"

namespace tcsim::cli {

// --trace and what goes with it, --rule, --attribution, --sample, --tlb, ...
void declare_simulation(boost::program_options::options_description&);

// A switch that this command has and that is given.
bool flag(const Options& options, const char* name);

SimulationRequest simulation_request(const Options&);

// The caches of the machine with --rule, --no-drain and --seed applied.
sim::SystemConfig system(const Options&, const Machine&, int cores = 1);

// Of traces.
Instructions instructions(const Options& options);
std::optional<sim::TraceFormat> trace_format(const Options& options);

}  // namespace tcsim::cli
