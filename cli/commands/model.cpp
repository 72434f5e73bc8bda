// predict, optimize: what the model says.
#include "cli/work.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

const Command& optimize_command() {
  static const Command command{
      "optimize",
      "WORKLOAD",
      "choose loop order and tile sizes; print the schedule and its certificate",
      "tcsim optimize tccg:8 --machine e5-2680v4",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_objective(o);
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        return for_each_workload(options, context, [&](const Contraction& c, const Machine& m) {
          return predicted_result("optimize", options, c, m, context);
        });
      }};
  return command;
}

const Command& predict_command() {
  static const Command command{
      "predict",
      "WORKLOAD",
      "traffic per level and tensor, time and bottleneck of a schedule",
      "tcsim predict tccg:29 --machine i7-6700k --format csv",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        return for_each_workload(options, context, [&](const Contraction& c, const Machine& m) {
          Result r = predicted_result("predict", options, c, m, context);
          r.certificate.reset();
          return r;
        });
      }};
  return command;
}

}  // namespace tcsim::cli
