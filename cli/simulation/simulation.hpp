// Simulations: of a workload's schedule, beside its prediction, and of traces.
#pragma once

#include "cli/command.hpp"
#include "cli/request.hpp"
#include "cli/result.hpp"

namespace tcsim::cli {

// Adds what the options ask for to a result that has its schedule.
void add_simulation(Result&, const Options&, Context&);

// tcsim simulate --trace.
Exit simulate_traces(const Options&, Context&);
// tcsim simulate --write-trace.
void write_trace(const Result&, const Options&, Context&);

}  // namespace tcsim::cli
