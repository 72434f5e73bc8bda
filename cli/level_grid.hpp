// What --vary of tcsim fuse shows of a chain on explicit levels: a curve of one knob, a table of
// two, a list of more, with crossovers and the Pareto front.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/level_run.hpp"

namespace tcsim::cli {

void declare_level_grid(boost::program_options::options_description&);  // --vary, --cost

// What --vary asks for; nothing without it. Notes about ranges that had to end go to context.err.
// Throws UsageError.
std::optional<levels::LevelGrid> level_grid(const Options& options, const LevelAnswer& answer,
                                            const levels::LevelOptimum& best, Context& context);

// Where the intermediates stay; "-" where there is none.
std::string level_homes(const LevelAnswer& answer, const levels::LevelPlan& plan);

// Nothing without --vary.
void print_level_grid(const LevelAnswer& answer, std::ostream& out);
// `curves` of one knob, `grid` of more; both have the same fields.
void add_level_grid(const LevelAnswer& answer, nlohmann::ordered_json& record);
// The fields that a point and a change have.
nlohmann::ordered_json json_of_point(const LevelAnswer& answer,
                                     const std::optional<levels::LevelOptimum>& point);
// Rows of points and crossovers.
void print_level_grid_csv(const std::vector<LevelAnswer>& all, std::ostream& out);

}  // namespace tcsim::cli
