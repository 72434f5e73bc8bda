#include "cli/simulation/simulation.hpp"
#include "cli/work.hpp"
#include "core/bounds/link_bounds.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

const Command& report_command() {
  static const Command command{
      "report",
      "WORKLOAD",
      "predicted, simulated and measured side by side, and what would help",
      "tcsim report tccg:9",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        declare_run(o);
        declare_untuned(o);
        o.add_options()("no-simulate", po::bool_switch(), "leave the simulation out")(
            "no-run", po::bool_switch(),
            "leave the measurement out (it only takes place with --machine host)")(
            "no-whatif", po::bool_switch(), "leave out what would help");
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        std::optional<Runner> runner;
        if (is_host(options) && !options["no-run"].as<bool>()) runner.emplace(options, context);
        return for_each_workload(options, context, [&](const Contraction& c, const Machine& m) {
          if (runner) runner->require_memory(c);
          Result r = predicted_result("report", options, c, m, context,
                                      tuned_schedule(options, c, 1, context));
          if (runner) runner->require_memory(r);
          r.bounds = bounds::LinkBounds(c).at(m);
          if (!options["no-simulate"].as<bool>()) add_simulation(r, options, context);
          if (runner) runner->add_run(r);
          if (!options["no-whatif"].as<bool>()) add_advice(r, options, context);
          return r;
        });
      }};
  return command;
}

}  // namespace tcsim::cli
