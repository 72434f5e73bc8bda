// The record that commands print about one workload, and its three printers. A field that a
// command does not know stays empty and is left out (docs/results.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/advice.hpp"
#include "cli/format.hpp"
#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/model/traffic.hpp"
#include "core/optimize/optimize.hpp"
#include "core/saved/tuned.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"
#include "kernels/execute.hpp"
#include "kernels/repetitions.hpp"
#include "microbench/counters/counting.hpp"
#include "sim/attribution.hpp"
#include "sim/sample.hpp"
#include "sim/set_use.hpp"
#include "sim/simulate.hpp"
#include "sim/timeline.hpp"

namespace tcsim::cli {

inline constexpr int results_schema = 1;

struct Result {
  Result(std::string c, Contraction w, Machine m)
      : command(std::move(c)), workload(std::move(w)), machine(std::move(m)) {}

  std::string command;
  Contraction workload;
  Machine machine;
  Schedule schedule;
  std::optional<Incumbent> found;  // of a schedule that the optimizer chose
  std::optional<Tuned> tuned;      // of one that was found by running
  ModelKind model = ModelKind::window;
  std::uint64_t seed = 0;

  std::optional<Prediction> prediction;
  std::optional<Simulation> simulation;
  std::vector<Bytes> bounds;  // by link: what no schedule moves less than (link_bounds.hpp)
  std::vector<LevelAttribution> attribution;  // with --attribution
  std::optional<SampledSimulation> sampled;   // with --sample, instead of a simulation
  std::vector<TlbCounts> tlbs;                // with --tlb
  std::optional<SetUse> sets;                 // with --sets
  std::optional<Timeline> timeline;           // with --timeline
  std::optional<RunTime> measured;
  std::vector<Repetition> repetitions;
  std::optional<double> worst_error;  // of the result's check, relative to its bound
  std::string kernel;                 // that the run used
  int threads = 1;                    // on which it ran
  int copies = 1;                     // of it that ran at a time, each on a thread
  std::optional<Counted> counted;     // while it ran
  std::optional<Certificate> certificate;
  std::string not_certified;     // why a given schedule lies outside the optimizer's family
  std::optional<Seconds> least;  // of a given schedule: by the window model none is quicker
  double seconds_to_solve = 0;
  std::optional<Advice> advice;
};

// Predicted and simulated bytes, and times, further apart than this are pointed out.
inline constexpr double agreement = 0.10;

inline constexpr double time_agreement = 0.02;

// (predicted - simulated) / simulated bytes of a link; empty if either is unknown.
std::optional<double> error(const Result& result, std::size_t link);

// Puts a run into the result of its schedule; `copies` of it ran at a time.
void take(Result& result, RunResult run, int copies = 1);

// The record (docs/results.md), and the table.
nlohmann::ordered_json json_of(const Result& result);
void print_table(const Result& result, std::ostream& out);

// `suite`: of several workloads, even if only one was done.
void print(const std::vector<Result>& results, Format format, bool suite, std::ostream& out);

}  // namespace tcsim::cli
