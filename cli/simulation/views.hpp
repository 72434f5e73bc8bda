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

// Of --sets, whose result `r` has: whether a link's level is the one, its entry in JSON, and the
// table. CSV has a row for each array and set of each workload, and nothing else.
bool is_of_sets(const Result& r, std::size_t link);
nlohmann::ordered_json sets_json(const Result& r);
void print_sets(const Result& r, std::ostream& out);
void print_sets_csv(const std::vector<Result>& results, std::ostream& out);

// Of --timeline. CSV has a row for each frame, level and array of each workload, and nothing else.
nlohmann::ordered_json timeline_json(const Timeline& t);
void print_timeline(const Timeline& t, std::ostream& out);
void print_timeline_csv(const std::vector<Result>& results, std::ostream& out);

}  // namespace tcsim::cli
