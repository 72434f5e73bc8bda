// What tcsim fuse says of a chain on explicit levels, and how it is run: fuse --run.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "chains/levels/rehearsal.hpp"
#include "chains/levels/run_levels.hpp"
#include "cli/command.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/levels/vary.hpp"

namespace tcsim::cli {

// Moving so much more in chunks of files than in tiles is told.
inline constexpr double worth_telling = 1.1;

// One way to do the chain.
struct LevelWay {
  std::string name;  // "optimum", "prescription", "unfused", "rehearsed"
  levels::LevelPlan plan;
  std::optional<levels::Counts> simulated;
  std::optional<chains::LevelRun> ran;
};

struct LevelAnswer {
  fusion::Chain chain;
  fusion::OperationTree tree;
  Machine machine;
  levels::Hierarchy hierarchy;
  std::vector<LevelWay> ways;
  std::vector<levels::FusionCondition> conditions;
  Seconds bound{0};
  double gap = 0;
  std::vector<levels::LevelChange> changes;
  std::optional<levels::LevelGrid> grid;     // of --vary
  std::string grid_cost;                     // the cost model's name; empty without one
  std::vector<chains::Rehearsed> rehearsed;  // the optimum, and what was tried beside it
  std::optional<LevelWay> other;             // of those, what runs instead of the optimum
  std::optional<double> error;               // of a run's results, relative to their bound

  const LevelWay& chosen() const { return other ? *other : ways.front(); }
  std::vector<const LevelWay*> all() const;  // `other` last
  LevelWay& chosen() { return other ? *other : ways.front(); }
};

// Throws UsageError where options belong to a run and there is none, or there are several chains.
void require_level_run(const Options& options, const std::string& named, std::size_t chains);

// The machine with as many processes as mpirun started, unless --set says how many it has.
Machine machine_of_team(const Machine& machine, const Options& options, const Processes& team);

// What is to run instead of the optimum: with --resume the schedule of the run that ended, with
// --rehearse the quickest of what is tried. Nothing where it is the optimum. Collective.
std::optional<levels::LevelPlan> other_plan(const Options& options, LevelAnswer& answer,
                                            Context& context);
void print_rehearsal(const LevelAnswer& answer, std::ostream& out);

// Runs what is chosen, with --compare the unfused way before it. Collective.
void run_level_answer(const Options& options, LevelAnswer& answer, Context& context);

// Nothing where nothing ran.
void print_level_runs(const LevelAnswer& answer, std::ostream& out);
// What was measured, into the record of a way.
void add_level_run(const LevelWay& way, nlohmann::ordered_json& record);
nlohmann::ordered_json json_of_level_run(const LevelAnswer& answer);

}  // namespace tcsim::cli
