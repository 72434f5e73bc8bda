#include "cli/answers/simulation.hpp"

#include "core/machine/share.hpp"
#include "core/model/modelled.hpp"
#include "sim/attribution.hpp"
#include "sim/rule.hpp"

namespace tcsim::cli {

sim::SystemConfig system(const SimulationRequest& request, const Machine& machine, int cores) {
  sim::SystemConfig config = sim::system_of(machine, cores);
  config.drain = request.drain;
  if (request.seed) config.seed = *request.seed;
  for (const std::string& rule : request.rules) sim::apply_rule(rule, config);
  return config;
}

std::string take_for_simulation(Result& result, const ScheduleRequest& request,
                                std::stop_token stop) {
  const std::string gap = gap_of_model(result.machine);
  take(result, choose(request, result.workload, known_to_model(result.machine), std::move(stop)));
  if (gap.empty()) return gap;
  result.prediction.reset();
  result.certificate.reset();
  result.not_certified.clear();
  result.least.reset();
  return gap;
}

namespace {

std::size_t cache_of(const SimulationRequest& request, const sim::SystemConfig& config) {
  return cache_named(config, *request.sets, "--sets " + *request.sets);
}

}  // namespace

void add_set_use(Result& result, const SimulationRequest& request, const SimulationOptions& how) {
  if (!request.sets) return;
  const sim::SystemConfig config = system(request, view_of_one_core(result.machine));
  result.sets =
      set_use(Plan(result.workload, result.schedule), config, cache_of(request, config), how);
}

void add_timeline(Result& result, const SimulationRequest& request, const SimulationOptions& how) {
  if (!request.timeline) return;
  const sim::SystemConfig config = system(request, view_of_one_core(result.machine));
  result.timeline = timeline(Plan(result.workload, result.schedule), config, *request.timeline,
                             request.timeline_part, how);
}

void add_simulation(Result& result, const SimulationRequest& request,
                    const SimulationOptions& how) {
  const Plan plan(result.workload, result.schedule);
  const sim::SystemConfig config = system(request, view_of_one_core(result.machine));
  if (request.sets) cache_of(request, config);
  if (request.tlb) result.tlbs = simulate_tlbs(plan, result.machine, how);
  if (request.sample) {
    result.sampled = sample(plan, config, *request.sample, how);
  } else if (request.attribution) {
    Attribution a = attribute(plan, config, how);
    result.attribution = std::move(a.levels);
    result.simulation = std::move(a.simulation);
  } else {
    result.simulation = simulate(plan, config, how);
  }
}

}  // namespace tcsim::cli
