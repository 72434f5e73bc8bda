// What the common options ask for: workloads, a machine, a schedule. Every command that takes a
// WORKLOAD declares the same options here and reads them by the same functions.
#pragma once

#include <optional>
#include <vector>

#include "cli/answers/choose.hpp"
#include "cli/command.hpp"
#include "cli/format.hpp"
#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/optimize.hpp"
#include "core/saved/tuned.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"
#include "core/workload/request.hpp"

namespace tcsim {
struct ProbeOptions;  // microbench/host.hpp
}

namespace tcsim::cli {

void declare_format(boost::program_options::options_description&);    // --format
void declare_output(boost::program_options::options_description&);    // --format, --out
void declare_workload(boost::program_options::options_description&);  // --size, --layout, --type
void declare_machine(boost::program_options::options_description&);   // --machine, --set, ...
// The same for a command that takes no WORKLOAD: neither --session nor --model.
void declare_machine_alone(boost::program_options::options_description&);
void declare_schedule(boost::program_options::options_description&);  // --schedule, --scheme
bool has_schedule(const Options&);
// How one is chosen where that is not given: --objective, --divide.
void declare_objective(boost::program_options::options_description&);

Format format(const Options&);

// What --image-layout says, which must be there. Throws UsageError for a layout that is unknown.
std::string image_layouts(const Options&);

// The only argument of a command that takes a WORKLOAD. Throws UsageError where it is missing.
std::string the_argument(const Options&);
// A WORKLOAD argument with the options that belong to it.
WorkloadRequest workload_request(const Options&, const std::string& argument);
// The workloads that a WORKLOAD argument names: "tccg:8", "tccg", a label with --size, a
// suite's .toml file, or a .program file.
std::vector<Contraction> workloads(const Options&, const std::string& argument);
// The same for a command whose only argument is a WORKLOAD.
std::vector<Contraction> workloads(const Options&);

// As ProbeOptions::refine: measures what a core that runs tcsim's kernels loses.
void refine_with_kernels(Machine& machine, const ProbeOptions& probe);

// A shipped name, a file, or "host", which is measured on first use; with --set applied. Notes
// about values that had to give way go to context.err.
Machine named_machine(const std::string& name, const Options&, Context&);
// The one that --machine names, with --accounting applied.
Machine machine(const Options&, Context&);
bool is_host(const Options&);

// What --schedule, --scheme, --objective, --divide and --model ask for.
ScheduleRequest schedule_request(const Options&);
// A schedule for the workload: the one that --schedule names or that was tuned (both checked), or
// the optimizer's choice, for_running() where it is `to_run`.
Chosen choose(const Options&, const Contraction&, const Machine&, Context&,
              const std::optional<Tuned>& tuned = {}, bool to_run = false);

// One line on a terminal that is rewritten as work goes on; nothing elsewhere.
class Progress {
 public:
  Progress(Context& context, std::string what);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(double share);  // in [0, 1]
  void show(const std::string& what, double share);

 private:
  Context& context_;
  std::string what_;
  double started_;
  std::size_t width_ = 0;
};

}  // namespace tcsim::cli
