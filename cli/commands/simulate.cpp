#include "cli/work.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

const Command& simulate_command() {
  static const Command command{
      "simulate",
      "WORKLOAD",
      "exact cache simulation of a schedule, beside its prediction",
      "tcsim simulate ij-ik-kj --size i=384,j=384,k=384 --machine i7-6700k",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        return for_each_workload(options, context, [&](const Contraction& c, const Machine& m) {
          Result r = predicted_result("simulate", options, c, m, context);
          add_simulation(r, context);
          return r;
        });
      }};
  return command;
}

}  // namespace tcsim::cli
