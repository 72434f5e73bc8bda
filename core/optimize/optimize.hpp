// Chooses a schedule: loop order and tile sizes at every cache level. Every innermost-loop choice
// is first solved over real tile sizes (core/optimize/relaxation.hpp); from the best few of those,
// a local search over whole tiles and loop orders minimises the time that the window model
// predicts for caches with a little room to spare, so that what is chosen is judged by exact counts
// and does not stand at an edge.
#pragma once

#include <stop_token>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// How good the choice is known to be. The bound is the best of all relaxed problems: no schedule
// whose traffic is the innermost-loop posynomial of acmtc-sc19 can be faster. Schedules that also
// reuse along outer loops can in principle beat it; then the gap is negative.
struct Certificate {
  Seconds relaxed_bound;
  Seconds achieved;
  double gap = 0;  // achieved / relaxed_bound - 1
};

enum class Objective {
  time,    // the slowest link, then the next one, and so on (acmtc-sc19, Eq. 4 and 6)
  sum,     // seconds of all links together (ioopt's objective)
  energy,  // bytes of every link times the machine's energy per byte
};

struct OptimizeOptions {
  Objective objective = Objective::time;
  // Points of the family that are judged first, for example the optimum of a machine that differs
  // a little: the answer is never worse than the best of them, and one that is proven good enough
  // is returned at once.
  std::vector<Tiling> incumbents;
  bool dividing = false;  // only tiles that divide the tile outside them
};

struct Optimized {
  Schedule schedule;
  Tiling tiling;          // what `schedule` was built from
  Prediction prediction;  // by the window model
  Certificate certificate;
  int choices = 0;    // relaxed problems solved
  int evaluated = 0;  // schedules that the window model judged
};

// Deterministic. Throws UnsupportedError for a machine that the window model does not cover, and
// Interrupted.
Optimized optimize(const Contraction& contraction, const Machine& machine,
                   const OptimizeOptions& options, std::stop_token stop = {});
Optimized optimize(const Contraction& contraction, const Machine& machine,
                   std::stop_token stop = {});

}  // namespace tcsim
