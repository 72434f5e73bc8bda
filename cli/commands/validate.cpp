// validate: what the model predicts against what the simulator counts, and why they differ.
#include <fmt/format.h>

#include "cli/validation.hpp"
#include "core/error.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

// An option in percent, as a fraction.
double fraction(const Options& options, const char* option) {
  const double percent = options[option].as<double>();
  if (percent >= 0 && percent <= 1e9) return percent / 100;
  throw UsageError(fmt::format("--{} {}", option, percent), "it is no limit in percent",
                   "give 0 or more, such as 10");
}

Exit run_validate(const Options& options, Context& context) {
  const Format form = format(options);
  ValidateOptions how;
  how.explain = fraction(options, "explain");
  how.model = parse_model(options["model"].as<std::string>());
  how.threads = options["threads"].as<int>();
  how.stop = context.stop;
  Validation v{
      workloads(options), machine(options, context), how.model, fraction(options, "limit"), {}};
  {
    Progress progress(context, "validating");
    how.progress = [&](double share) { progress.show(share); };
    // Several threads choose at once: none of them writes.
    const auto schedule = [&](const Contraction& c) {
      Context silent{context.out, context.err, context.stop, false, true, false};
      return choose(options, c, v.machine, silent).schedule;
    };
    v.complete = validate(v.workloads, v.machine, schedule, how);
  }
  print(v, form, context.out);
  if (v.complete.size() < v.workloads.size()) {
    context.err << fmt::format("tcsim: interrupted after {} of {} workloads\n", v.complete.size(),
                               v.workloads.size());
    return Exit::interrupted;
  }
  return v.passed() ? Exit::done : Exit::no;
}

}  // namespace

const Command& validate_command() {
  static const Command command{
      "validate",
      "WORKLOAD",
      "predicted against simulated for every workload of a suite, and why they differ",
      "tcsim validate ij-ik-kj --size i=384,j=384,k=384 --machine i7-6700k",
      [](po::options_description& o) {
        o.add_options()("limit", po::value<double>()->default_value(10),
                        "percent; with an error above it the exit code is 1")(
            "explain", po::value<double>()->default_value(5),
            "percent; errors above it get their reason, which takes further simulations");
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        declare_output(o);
      },
      run_validate};
  return command;
}

}  // namespace tcsim::cli
