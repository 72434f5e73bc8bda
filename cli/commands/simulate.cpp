#include "cli/simulation/options.hpp"
#include "cli/simulation/simulation.hpp"
#include "cli/work.hpp"
#include "core/model/modelled.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

Result simulated_result(const Options& options, const Contraction& c, const Machine& m,
                        Context& context) {
  const std::string gap = gap_of_model(m);
  Result r = predicted_result("simulate", options, c, known_to_model(m), context);
  r.machine = m;
  if (!gap.empty()) {
    r.prediction.reset();
    r.certificate.reset();
    r.not_certified.clear();
    r.least.reset();
    if (!context.quiet) context.err << "note: nothing is predicted: " << gap << "\n";
  }
  if (options.count("write-trace") != 0) {
    write_trace(r, options, context);
    return r;
  }
  add_simulation(r, options, context);
  return r;
}

}  // namespace

const Command& simulate_command() {
  static const Command command{
      "simulate",
      "WORKLOAD",
      "exact cache simulation of a schedule or of a trace",
      "tcsim simulate ij-ik-kj --size i=384,j=384,k=384 --machine i7-6700k",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        declare_simulation(o);
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        if (options.count("trace") != 0) return simulate_traces(options, context);
        return for_each_workload(options, context, [&](const Contraction& c, const Machine& m) {
          return simulated_result(options, c, m, context);
        });
      }};
  return command;
}

}  // namespace tcsim::cli
