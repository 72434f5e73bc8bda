// How much the predicted time of a workload on a machine depends on each of the machine's knobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/curve.hpp"

namespace tcsim {

// One step of a knob away from the machine as it is.
struct KnobStep {
  double value = 0;
  double factor = 0;      // over the machine's, above 1 upward
  Seconds time;           // with the best schedule for the changed machine
  double elasticity = 0;  // log(time / base time) / log(factor); 0: changes nothing
  std::string bottleneck;
  // Of the draws in which the time falls by no_gain_below or more; empty where no rate of the
  // machine has a spread.
  std::optional<double> gains = {};
};

struct Elasticity {
  Knob knob;
  // 1 % either way, or the next value that the machine can have. The two differ where the time has
  // a kink, as where two links are equally slow. Empty: no machine can be like that.
  std::optional<KnobStep> up, down;
  // The step in whose direction the time falls more (upward if neither).
  const KnobStep* better() const;
};

struct Elasticities {
  Choice base;
  std::string bottleneck;
  std::optional<Uncertainty> sure;  // of the base machine
  std::vector<Elasticity> knobs;    // in the order of all_knobs()
  bool complete = true;
};

// d log time / d log knob for every knob of the machine. Schedules are chosen anew for each step.
// Each is then tried on the base machine and on every other step, so that what a step brings is the
// knob's doing and not that of a luckier search. A step to a machine that the model does not cover
// is left out. Options as for curve().
Elasticities elasticities(const Contraction& contraction, const Machine& machine,
                          const ExploreOptions& options = {});

}  // namespace tcsim
