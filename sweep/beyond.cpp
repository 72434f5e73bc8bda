#include "sweep/beyond.hpp"

#include <mutex>

#include "core/error.hpp"
#include "core/model/kernel_time.hpp"
#include "core/plan/plan.hpp"
#include "kernels/execute.hpp"
#include "sim/simulate.hpp"

namespace tcsim {

Further beyond(const Study& study, std::stop_token stop) {
  if (study.compute != Compute::simulate && study.compute != Compute::run) return {};
  return [&study, stop](PointResult& r, const Contraction& contraction, const Schedule& schedule,
                        const Machine& machine) {
    const Plan plan(contraction, schedule);
    if (study.compute == Compute::run) {
      static std::mutex one_at_a_time;
      const std::lock_guard lock(one_at_a_time);
      const RunResult run =
          tcsim::run(plan, {.repeat = study.repetitions, .seed = study.seed, .stop = stop});
      if (!run.check.ok()) {
        throw UnsupportedError(contraction.name(), "a run's result is wrong",
                               "report it: " + r.schedule);
      }
      r.measured_seconds = run.timed.median.value();
      return;
    }
    SimulationOptions options;
    options.stop = stop;
    const Simulation s = simulate(plan, machine, options);
    const Timing t = timing(s.traffic, kernel_time(contraction, plan.schedule(), machine), machine);
    r.simulated_seconds = t.total.value();
    r.bottleneck = t.bottleneck;
    for (const LinkTraffic& l : s.traffic.links) {
      r.simulated_bytes.push_back(static_cast<double>(l.counted(machine.accounting).value()));
    }
  };
}

}  // namespace tcsim
