#include "cli/simulation/simulation.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <system_error>

#include "cli/simulation/options.hpp"
#include "core/error.hpp"
#include "core/io/new_file.hpp"
#include "sim/simulate_trace.hpp"

namespace tcsim::cli {

void add_simulation(Result& result, const Options& options, Context& context) {
  Progress progress(context, result.workload.name() + ": simulating");
  SimulationEffort effort;
  SimulationOptions how;
  how.stop = context.stop;
  how.progress = [&](double share) { progress.show(share); };
  how.threads = options["threads"].as<int>();
  how.replay = !flag(options, "no-replay");
  how.effort = &effort;
  const auto start = std::chrono::steady_clock::now();
  const SimulationRequest request = simulation_request(options);
  add_simulation(result, request, how);
  if (context.verbose && result.simulation) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const auto touches = static_cast<double>(result.simulation->touches.value());
    context.err << fmt::format(
        "{}: {:.4g} million line touches simulated in {:.2f} s on {} thread{}, {:.1f} % of them "
        "as repetitions\n",
        result.workload.name(), touches / 1e6, spent.count(), effort.threads,
        effort.threads == 1 ? "" : "s",
        100 * static_cast<double>(effort.repeated.value()) / touches);
  }
  if (request.sets) {
    Progress sets(context, fmt::format("{}: sets of {}", result.workload.name(), *request.sets));
    how.progress = [&](double share) { sets.show(share); };
    add_set_use(result, request, how);
  }
  if (request.timeline) {
    Progress timeline(context, result.workload.name() + ": timeline");
    how.progress = [&](double share) { timeline.show(share); };
    add_timeline(result, request, how);
  }
}

void write_trace(const Result& result, const Options& options, Context& context) {
  const auto& file = options["write-trace"].as<std::string>();
  const std::string format =
      options.count("trace-format") != 0 ? options["trace-format"].as<std::string>() : "binary";
  if (format != "binary" && format != "champsim") {
    throw UsageError("--trace-format", fmt::format("no trace is written as {}", format),
                     "use binary or champsim");
  }
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  const Plan plan(result.workload, result.schedule);
  if (format == "champsim") {
    sim::ChampsimWriter writer(out);
    tcsim::write_trace(plan, writer, context.stop);
  } else {
    sim::TraceWriter writer(out);
    tcsim::write_trace(plan, writer, context.stop);
  }
  out.close();
  if (!out) {
    const int error = errno;
    throw UsageError("--write-trace " + file,
                     "the file cannot be written" +
                         (error == 0 ? "" : ": " + std::generic_category().message(error)),
                     mend_of_writing(error, "name another one"));
  }
}

}  // namespace tcsim::cli
