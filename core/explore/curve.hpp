// Predicted time along a knob, and where its bottleneck changes.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/explore/chooser.hpp"
#include "core/explore/knob_range.hpp"
#include "core/explore/uncertainty.hpp"
#include "core/machine/machine.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct ExploreOptions {
  const Schedule* fixed = nullptr;       // predicted everywhere instead of choosing anew
  std::vector<Incumbent> incumbents;     // where the search begins, may be empty
  std::stop_token stop;                  // asked to stop, what is there is returned
  std::function<void(double)> progress;  // share that is done
};

struct CurvePoint {
  double value = 0;   // of the knob
  double factor = 0;  // over the base machine's
  Choice choice;
  std::string bottleneck;                // a link, or "compute"
  std::optional<Uncertainty> sure = {};  // empty where no rate of the machine has a spread
};

// For an accounting that leaves packing out: where the crossover would be if it counted. Packing
// reads lines of an operand over a link and writes as many of its copy. At the registers kernels
// alone count.
struct PackingVariant {
  std::string counted;  // "computation only", "with packing's reads", "... and writes"
  double factor = 0;
};

// The values of the knob below which 5 % and above which 5 % of the draws have a crossover: where
// the two that change places are equally slow in the draw, whatever a third one does. An end is
// empty where it lies beyond the range.
struct CrossoverBand {
  std::optional<double> low, high;
};

struct Crossover {
  std::string knob;
  double value = 0;   // from which on `to` decides
  double factor = 0;  // over the base machine's
  std::string from, to;
  // For the schedule at the crossover. Empty unless packing is left out and the knob is the
  // bandwidth of a link that decides on one side.
  std::vector<PackingVariant> packing;
  std::optional<CrossoverBand> band = {};  // empty where neither of the two has a spread
  std::optional<Uncertainty> sure = {};    // there, as CurvePoint::sure
};

struct Curve {
  Knob knob;
  CurvePoint base;  // the machine as it is
  std::vector<CurvePoint> points;
  std::vector<Crossover> crossovers;  // within the range, by value
  bool complete = true;               // false: stopped before the end
  std::string remark;                 // the range's, and values that have no point, with the reason
};

// How near a crossover is known, as a share of the knob's value; or to the next value that the
// machine can have. Source: chosen.
inline constexpr double crossover_tolerance = 1e-3;

// Goes from the worst machine to the best. Each search begins from what the one before chose, and
// every choice is carried to its neighbours on both sides until none gains. So with a better
// machine the curve does not rise. It may rise where a schedule that is kept becomes slower (more
// sets can make lines collide), or where the core loses the schedule's kernel.
//
// Between points whose bottlenecks differ it bisects. Between those of one bottleneck but different
// schedules it looks every 25 %, or every 5 % where a second link comes within 10 % of deciding. A
// fixed schedule's curve leaves out cores with too few registers for its kernel. Throws what
// optimize() throws for the base machine, but Interrupted only if there is nothing yet.
Curve curve(const Contraction& contraction, const Machine& machine, const KnobRange& range,
            const ExploreOptions& options = {});

// Two knobs at once: every pair of values (Ends::as_given), each carried to its neighbours.
struct PlanePoint {
  double values[2] = {0, 0};
  double factors[2] = {0, 0};
  std::optional<Choice> choice;  // empty: no such machine, or stopped before it
  std::string bottleneck;
  std::string remark;  // why there is no such machine, or none for a fixed schedule
};
struct Plane {
  Knob knobs[2];
  CurvePoint base;
  std::vector<PlanePoint> points;  // the second knob's values run fastest
  bool complete = true;
};
Plane plane(const Contraction& contraction, const Machine& machine, const KnobRange& first,
            const KnobRange& second, const ExploreOptions& options = {});

}  // namespace tcsim
