// A result's simulation as a table, JSON and CSV, for the printers of cli/result.hpp.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/result.hpp"

namespace tcsim::cli {

void print_simulation(const Result&, std::ostream&);
// Fields of a level's entry in JSON; of a link, of which the first one has no level.
void add_simulation(nlohmann::ordered_json& level, const Result&, std::size_t link);
void add_simulation(nlohmann::ordered_json& result, const Result&);
// Columns of CSV, and a link's cells.
std::vector<std::string> simulation_columns();
std::vector<std::string> simulation_cells(const Result&, std::size_t link);

}  // namespace tcsim::cli
