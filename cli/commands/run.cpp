#include <algorithm>

#include "cli/values.hpp"
#include "cli/work.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

const Command& run_command() {
  static const Command command{
      "run",
      "WORKLOAD",
      "execute it on this machine: check, GFLOPS, cache lines counted",
      "tcsim run ij-ik-kj --size i=960,j=960,k=960 --counters",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        declare_run(o);
        declare_untuned(o);
        o.add_options()(
            "batched", whole(1, 1),
            "run so many independent contractions at a time, each on a core of its own");
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        const int threads = options["threads"].as<int>();
        const int copies = options["batched"].as<int>();
        Runner runner(options, context, threads, copies);
        return for_each_workload(options, context, [&](const Contraction& c, const Machine& m) {
          runner.require_memory(c);
          // What is predicted and chosen is for one core of as many, which share the outer levels.
          Machine shared = m;
          shared.core.cores = std::max({m.core.cores, threads, copies});
          // Of a batch each has its core, but they share what is outside it.
          std::optional<Tuned> tuned;
          if (copies == 1) tuned = tuned_schedule(options, c, threads, context);
          Result r = predicted_result("run", options, c, shared, context, std::move(tuned));
          if (copies > 1) runner.require_memory(r);
          runner.add_run(r);
          return r;
        });
      }};
  return command;
}

}  // namespace tcsim::cli
