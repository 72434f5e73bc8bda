// The optimizer's choice judged by the simulator: is it the best of what lies beside it?
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "core/machine/machine.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct Neighbourhood {
  std::size_t neighbours = 0;  // that were drawn
  // Of these. The others need no simulation: computing, or the link to the registers, which is
  // arithmetic, takes longer than the best.
  std::size_t simulated = 0;
  Seconds chosen;     // simulated time of the choice
  Seconds best;       // the least of it and of all neighbours
  Schedule schedule;  // that takes `best`
  // By how much the choice takes longer than the best, as a fraction.
  double excess() const { return chosen / best - 1; }
  bool operator==(const Neighbourhood&) const = default;
};

struct NeighbourhoodOptions {
  std::size_t count = 200;  // neighbours to draw (random_neighbours())
  std::uint64_t seed = 0;
  int threads = 1;  // results do not depend on it
  std::stop_token stop = {};
  std::function<void(double)> progress = {};  // the share that is done, in [0, 1]
};

// Of what the optimizer chose. Times are those of simulated bytes, as in Validated. Throws
// UnsupportedError for a machine that the model or the simulator does not cover, and Interrupted.
Neighbourhood neighbourhood(const Contraction& contraction, const Machine& machine,
                            const Incumbent& chosen, const NeighbourhoodOptions& options = {});

}  // namespace tcsim
