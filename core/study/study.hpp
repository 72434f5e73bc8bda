// A study: many workloads on many machines whose knobs vary. It is read from a TOML file and
// checked as a whole before anything runs (docs/sweep.md has every key):
//
//     schema = 1
//     name = "l3-growth"
//     workloads = ["tccg"]                  # suites, suite:number, suite files
//     machines = ["e5-2680v4"]              # shipped names, files, host
//     compute = "optimize"                  # predict, optimize, simulate, run
//     objective = "time"                    # time, traffic, energy, area, cost
//     sampling = "grid"                     # grid, zip, latin-hypercube, sobol
//     constraints = ["L3.capacity >= 2 * L2.capacity"]
//     [[knob]]
//     name = "L3.capacity"
//     range = "2MiB..256MiB"                # or values = ["2MiB", "4MiB"]
//     points = 15
//
// A **design** is a machine with its knobs set; a **point** is a design and a workload. Designs
// have numbers: first the machines as they are, then those that the sampling makes of each machine,
// in the order of the file. What has a number is a function of it, so nothing is stored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/explore/knob.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/fusion/operation_tree.hpp"
#include "core/machine/machine.hpp"
#include "core/optimize/optimize.hpp"
#include "core/study/cost.hpp"
#include "core/study/expression.hpp"
#include "core/study/sampling.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

enum class Compute {
  predict,   // the schedule that is best for the machine as it is, on every design
  optimize,  // a schedule for every design
  simulate,  // that, and an exact cache simulation of it
  run,       // that, and a run of it on this machine
};
enum class StudyObjective { time, traffic, energy, area, cost };
inline constexpr Compute all_computes[] = {Compute::predict, Compute::optimize, Compute::simulate,
                                           Compute::run};
inline constexpr StudyObjective all_study_objectives[] = {
    StudyObjective::time, StudyObjective::traffic, StudyObjective::energy, StudyObjective::area,
    StudyObjective::cost};
const char* to_text(Compute);
const char* to_text(StudyObjective);

// A contraction inside caches, or a chain on explicit levels (core/levels).
struct StudyWorkload {
  std::variant<Contraction, fusion::OperationTree> what;
  double weight = 1;  // of its time, traffic and energy in the sums over all workloads

  bool is_chain() const { return what.index() == 1; }
  const Contraction& contraction() const { return std::get<Contraction>(what); }
  const fusion::OperationTree& chain() const { return std::get<fusion::OperationTree>(what); }
  const std::string& name() const;
  std::string label() const;  // of a chain its statements
  std::string sizes() const;
  ElementType type() const;
  double flops() const;
};

// A knob of one machine and the values that it takes.
struct Axis {
  Knob knob;
  std::vector<double> values;  // of a grid or a zip: of machines, as near as they can be
  double low = 0, high = 0;    // of a range
  bool linear = false, listed = false;

  double at(double u) const;  // u in [0, 1): of a range along its scale, of a list by place
};

struct StudyMachine {
  Machine machine;           // as it is: [set], accounting and the cost model's energies applied
  std::vector<Axis> axes;    // one for each knob
  std::int64_t designs = 0;  // that the sampling makes of it, before constraints
  std::string given;         // what the study calls it: a shipped name, a file, "host"
};

struct Constraint {
  Expression expression;
  bool on_cost = false;  // asks for area or cost, which take the cost model
};

struct Study {
  std::string name, description;
  std::vector<StudyWorkload> workloads;
  std::vector<StudyMachine> machines;
  std::vector<std::string> knobs;     // names
  std::vector<std::string> settings;  // [set], as overrides: "memory.bandwidth=9GB/s"
  Sampling sampling = Sampling::grid;
  std::int64_t samples = 0;  // of a Latin hypercube or a Sobol sequence
  std::vector<Constraint> constraints;
  Compute compute = Compute::optimize;
  StudyObjective objective = StudyObjective::time;
  std::uint64_t seed = 0;
  int repetitions = 3;  // of a run
  std::optional<CostModel> cost;

  // Whether all workloads are chains and all machines have explicit levels; otherwise none.
  bool of_chains() const { return !workloads.empty() && workloads.front().is_chain(); }
  std::int64_t design_count() const;  // with the machines as they are, before constraints
  std::int64_t point_count() const { return design_count() * std::ssize(workloads); }
  // What a schedule is chosen for.
  Objective schedule_objective() const {
    return objective == StudyObjective::energy ? Objective::energy : Objective::time;
  }
};

// At most so many points: ids stay exact in any table, and a mistyped range is told at once.
inline constexpr std::int64_t most_study_points = 1'000'000'000;

// Where the names in a study lead. Each throws what it finds wrong, as UsageError or InputError.
struct StudySources {
  std::function<Machine(const std::string& name)> machine;
  std::function<std::vector<Contraction>(const std::string& name)> workloads;
  std::function<std::vector<fusion::Chain>(const fusion::ChainRequest& request)> chains;
  std::function<std::string(const std::string& name)> cost_model;  // text of its file
};
// Shipped names and files beside `study_file`. "host" is left to the caller.
StudySources shipped_sources(const std::filesystem::path& study_file);

// Throws InputError with file, line and column, and Interrupted; what a name leads to may throw
// more.
Study parse_study(std::string_view toml, const std::string& place, const StudySources& sources,
                  std::stop_token stop = {});

// What the results depend on, each with its name: equal meanings give equal results. A change of
// tcsim's version is not part of it.
std::vector<std::pair<std::string, std::string>> meaning(const Study& study);

// fnv1a() of the text, 16 hex digits.
std::string text_hash(std::string_view text);

}  // namespace tcsim
