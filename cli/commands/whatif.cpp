// whatif: the predicted time along one or two knobs of the machine.
#include "cli/whatif.hpp"

#include <fmt/format.h>

#include "cli/work.hpp"
#include "core/error.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

constexpr int points_of_one = 17, points_of_two = 9;

std::vector<KnobRange> ranges(const Options& options, const Machine& machine) {
  std::vector<KnobRange> all;
  if (options.count("vary") == 0) return all;
  const auto& given = options["vary"].as<std::vector<std::string>>();
  if (given.size() > 2) {
    throw UsageError("--vary", fmt::format("{} knobs vary", given.size()),
                     "vary at most two at once");
  }
  for (const std::string& text : given) {
    all.push_back(given.size() == 1
                      ? parse_knob_range(machine, text, points_of_one)
                      : parse_knob_range(machine, text, points_of_two, Ends::as_given));
    if (all.size() == 2 && all[0].knob.name == all[1].knob.name) {
      throw UsageError("--vary", fmt::format("{} varies twice", all[0].knob.name),
                       "vary two different knobs");
    }
  }
  return all;
}

// Fills `w`; interrupted, with what there is.
void explore(WhatIf& w, ExploreOptions& options) {
  if (w.ranges.size() == 1) {
    w.curve = curve(w.workload, w.machine, w.ranges[0], options);
    w.base = w.curve->base;
    w.complete = w.curve->complete;
    w.ranges[0].remark = w.curve->remark;
  } else if (w.ranges.size() == 2) {
    w.plane = plane(w.workload, w.machine, w.ranges[0], w.ranges[1], options);
    w.base = w.plane->base;
    w.complete = w.plane->complete;
  }
  if (!w.complete) return;
  if (w.base.choice.tiling) options.incumbents.push_back(*w.base.choice.tiling);
  try {
    w.advice = advice(w.workload, w.machine, options);
  } catch (const Interrupted&) {
    if (w.ranges.empty()) throw;
    w.complete = false;
    return;
  }
  const Elasticities& e = w.advice->elasticities;
  if (w.ranges.empty()) w.base = {1, 1, e.base, e.bottleneck, e.sure};
}

WhatIf whatif(const Options& options, const Contraction& contraction, const Machine& machine,
              Context& context) {
  WhatIf w(contraction, machine);
  w.ranges = ranges(options, machine);
  w.fixed_schedule = options["fixed-schedule"].as<bool>() || has_schedule(options);
  Progress progress(context, contraction.name() + ": what if");
  ExploreOptions explore_options;
  explore_options.stop = context.stop;
  explore_options.progress = [&](double share) { progress.show(share); };
  Chosen chosen;
  if (w.fixed_schedule) {
    chosen = choose(options, contraction, machine, context);
    explore_options.fixed = &chosen.schedule;
  }
  explore(w, explore_options);
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
            "keep the schedule of the machine as it is (so does --schedule)");
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_output(o);
      },
      run_whatif};
  return command;
}

}  // namespace tcsim::cli
