// whatif: the predicted time along one or two knobs of the machine.
#include "cli/whatif.hpp"

#include <fmt/format.h>

#include "cli/answers/whatif.hpp"
#include "cli/work.hpp"
#include "core/error.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

std::vector<KnobRange> ranges(const Options& options, const Machine& machine) {
  if (options.count("vary") == 0) return {};
  return knob_ranges(options["vary"].as<std::vector<std::string>>(), machine);
}

WhatIf whatif(const Options& options, const Contraction& contraction, const Machine& machine,
              Context& context) {
  WhatIf w(contraction, machine);
  w.ranges = ranges(options, machine);
  w.fixed_schedule = options["fixed-schedule"].as<bool>() || has_schedule(options);
  if (options.count("cost") != 0) w.model = find_cost_model(options["cost"].as<std::string>());
  w.wants_worth = w.model.has_value() || options["worth"].as<bool>();
  Progress progress(context, contraction.name() + ": what if");
  ExploreOptions explore_options;
  explore_options.stop = context.stop;
  explore_options.progress = [&](double share) { progress.show(share); };
  Chosen chosen;
  if (w.fixed_schedule) {
    chosen = choose(options, contraction, machine, context);
    explore_options.fixed = &chosen.schedule;
  }
  explore(w, std::move(explore_options));
  return w;
}

Exit run_whatif(const Options& options, Context& context) {
  const Format form = format(options);
  if (parse_model(options["model"].as<std::string>()) != ModelKind::window) {
    throw UsageError("--model", "whatif chooses and predicts by one model",
                     "leave it out, or use window");
  }
  const std::vector<Contraction> workload_list = workloads(options);
  const Machine m = machine(options, context);
  for (const KnobRange& r : ranges(options, m)) {
    if (!r.remark.empty() && !context.quiet) context.err << "note: " << r.remark << "\n";
  }
  const bool suite = workload_list.size() > 1;
  std::vector<WhatIf> all;
  bool complete = true;
  try {
    for (const Contraction& c : workload_list) {
      all.push_back(whatif(options, c, m, context));
      complete = all.back().complete;
      if (form == Format::table) {  // readable as it grows; the others are one document
        if (all.size() > 1) context.out << "\n";
        print_table(all.back(), context.out);
        context.out.flush();
      }
      if (!complete) break;
    }
  } catch (const Interrupted&) {
    complete = false;
  }
  if (form != Format::table) {
    print(all, form, suite, context.out);
  } else if (suite) {
    print_total(all, context.out);
  }
  if (complete) return Exit::done;
  context.err << fmt::format("tcsim: interrupted in workload {} of {}\n",
                             std::max<std::size_t>(1, all.size()), workload_list.size());
  return Exit::interrupted;
}

}  // namespace

const Command& whatif_command() {
  static const Command command{
      "whatif",
      "WORKLOAD",
      "what would change if the machine did: curves, crossovers, elasticities",
      "tcsim whatif tccg:29 --machine e5-2680v4 --vary memory.bandwidth=1x..1.5x",
      [](po::options_description& o) {
        o.add_options()("vary", po::value<std::vector<std::string>>(),
                        "KNOB=LOW..HIGH[:POINTS][:log|linear] or KNOB=VALUE,VALUE,...: "
                        "L3.capacity=8MiB..128MiB, memory.bandwidth=1x..1.5x:11 (once or twice; "
                        "without it, elasticities alone)")(
            "fixed-schedule", po::bool_switch(),
            "keep the schedule of the machine as it is (so does --schedule)")(
            "worth", po::bool_switch(),
            "what twice as much of each knob would bring, the most first")(
            "cost", po::value<std::string>(),
            "a cost model, shipped or a file: energy and area, and --worth by mm2 and watt");
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_output(o);
      },
      run_whatif};
  return command;
}

}  // namespace tcsim::cli
