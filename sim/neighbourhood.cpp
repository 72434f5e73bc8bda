#include "sim/neighbourhood.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/random_neighbours.hpp"
#include "sim/simulate.hpp"

namespace tcsim {

namespace {

struct Neighbour {
  Schedule schedule;
  Seconds least;      // computing and the link to the registers
  Seconds predicted;  // the nearer ones are simulated first, so that fewer have to be
};

}  // namespace

Neighbourhood neighbourhood(const Contraction& contraction, const Machine& machine,
                            const Incumbent& chosen, const NeighbourhoodOptions& options) {
  const Machine one = view_of_one_core(machine);
  SimulationOptions how;
  how.stop = options.stop;
  how.threads = options.threads;
  const auto simulated = [&](const Schedule& schedule) {
    const Traffic traffic = simulate(Plan(contraction, schedule), one, how).traffic;
    return timing(traffic, kernel_time(contraction, schedule, one), one).total;
  };

  Neighbourhood found;
  found.schedule = build(contraction, one, chosen);
  found.chosen = found.best = simulated(found.schedule);

  SharedCounts counts;
  std::vector<Neighbour> all;
  for (Schedule& schedule :
       random_neighbours(contraction, one, chosen, options.count, options.seed)) {
    if (options.stop.stop_requested()) throw Interrupted();
    const Timing p = predict(contraction, schedule, one, counts, 1, Detail::full).timing;
    all.push_back({std::move(schedule), std::max(p.compute, p.links.front()), p.total});
  }
  std::ranges::stable_sort(all, {}, &Neighbour::predicted);
  found.neighbours = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (options.progress) {
      options.progress(static_cast<double>(i) / static_cast<double>(all.size()));
    }
    if (all[i].least >= found.best) continue;
    ++found.simulated;
    const Seconds time = simulated(all[i].schedule);
    if (time >= found.best) continue;
    found.best = time;
    found.schedule = std::move(all[i].schedule);
  }
  return found;
}

}  // namespace tcsim
