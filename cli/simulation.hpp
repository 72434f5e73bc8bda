// Asking for simulations and printing them: of a workload's schedule, beside its prediction, and of
// traces.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.hpp"
#include "cli/result.hpp"
#include "sim/attribution.hpp"
#include "sim/simulate.hpp"

namespace tcsim::cli {

// --trace and what goes with it, --rule, --attribution, --sample, --tlb, ...
void declare_simulation(boost::program_options::options_description&);

// The caches of the machine with --rule, --no-drain and --seed applied.
sim::SystemConfig system(const Options&, const Machine&, int cores = 1);

// Adds what the options ask for to a result that has its schedule.
void add_simulation(Result&, const Options&, Context&);

// tcsim simulate --trace.
Exit simulate_traces(const Options&, Context&);
// tcsim simulate --write-trace.
void write_trace(const Result&, const std::string& file, Context&);

// Views of a result's simulation, used by the printers of cli/result.hpp.
void print_simulation(const Result&, std::ostream&);
// Fields of a level's entry in JSON; of a link, of which the first one has no level.
void add_simulation(nlohmann::ordered_json& level, const Result&, std::size_t link);
void add_simulation(nlohmann::ordered_json& result, const Result&);
// Columns of CSV, and a link's cells.
std::vector<std::string> simulation_columns();
std::vector<std::string> simulation_cells(const Result&, std::size_t link);

}  // namespace tcsim::cli
