#include "emit/emit.hpp"

#include <fmt/format.h>

#include "cli/describe.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "cli/work.hpp"
#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

// What the file says about where it comes from and how fast it should be.
std::vector<std::string> remarks(const Result& r) {
  const Prediction& p = *r.prediction;
  std::vector<std::string> lines{
      fmt::format("Written by tcsim {} for the machine {}{}, {}.", version, r.machine.name,
                  r.machine.description.empty() ? "" : " (" + r.machine.description + ")",
                  content_hash(r.machine)),
      fmt::format("Predicted for one core of it, accounting {}:", to_words(r.machine.accounting))};
  for (std::size_t l = 0; l < p.timing.links.size(); ++l) {
    lines.push_back(fmt::format("    {:<14}{:>12}  {:>12}",
                                r.machine.link(LevelId{static_cast<int>(l)}),
                                to_display(p.traffic.links[l].counted(r.machine.accounting)),
                                to_display(p.timing.links[l])));
  }
  lines.push_back(
      fmt::format("    {:<14}{:>12}  {:>12}", "compute", "", to_display(p.timing.compute)));
  lines.push_back(fmt::format("    {}, {:.1f} GFLOPS; {} decides", to_display(p.timing.total),
                              p.rate.value() / 1e9, bottleneck_name(p.timing, r.machine)));
  return lines;
}

Exit emit(const Options& options, Context& context) {
  const std::vector<Contraction> all = workloads(options);
  if (all.size() != 1) {
    const auto given = arguments(options)[0];
    throw UsageError(given, fmt::format("it has {} contractions", all.size()),
                     fmt::format("name one: {}:1 to {}:{}", given, given, all.size()));
  }
  const Machine m = machine(options, context);
  const Result r = predicted_result("emit", options, all[0], m, context);
  EmitOptions how;
  how.prefix = options["prefix"].as<std::string>();
  how.seed = r.seed;
  how.remarks = remarks(r);
  context.out << emit_c(Plan(r.workload, r.schedule), how);
  return Exit::done;
}

}  // namespace

const Command& emit_command() {
  static const Command command{
      "emit",
      "WORKLOAD",
      "the schedule as a C file that compiles on its own",
      "tcsim emit tccg:8 --out tccg8.c && cc -O3 tccg8.c -o tccg8 && ./tccg8 3",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        o.add_options()("prefix", po::value<std::string>()->default_value(""),
                        "put before every name in the file, for several files in one program")(
            "seed", whole<std::uint64_t>(1, 0), "of the inputs that its main() fills in")(
            "out", po::value<std::string>(), "write to this file instead of standard output");
      },
      emit};
  return command;
}

}  // namespace tcsim::cli
