// What a design costs by a cost model: area, and energy by level. And what twice as much of each
// knob would bring, and cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/curve.hpp"
#include "core/study/cost.hpp"

namespace tcsim {

// A shipped model's name, or the path of a file. Throws UsageError, listing the names, and
// InputError.
CostModel find_cost_model(const std::string& name);
std::vector<std::string> shipped_cost_models();  // sorted names, such as "45nm"

// A part of a design: the core, or a level with the link inward.
struct PartCost {
  std::string name;            // "core", "L1", "memory"
  std::optional<double> area;  // mm2; empty where the model has no rule
  std::optional<Joules>
      moving;       // of the core all multiply-adds, of a level all bytes over its link
  Joules standing;  // its power for as long as the work takes
};
struct DesignCost {
  std::vector<PartCost> parts;  // the core, then the levels from the innermost outward
  std::optional<double> area;   // mm2
  std::optional<double> price;
  // Of the work, as a sweep says it: empty where nothing is known. Levels whose bytes nobody has an
  // energy for leave out those of all levels.
  std::optional<Joules> energy;
  double watts = 0;  // energy over time; 0 where it is not known
};
DesignCost design_cost(const CostModel& model, const Contraction& contraction,
                       const Machine& machine, const Prediction& prediction);

// A knob turned to twice what the machine has, or to half where less is better, or as far toward
// that as a machine can be.
struct Worth {
  Knob knob;
  double value = 0, factor = 1;
  Seconds time;  // with the best schedule for that machine
  std::string bottleneck;
  double gain = 0;  // of the rate: 0.12 is 12 % more GFLOPS; 0 below no_gain_below
  // More than the machine as it is has; empty where the model does not say.
  std::optional<double> area;   // mm2
  std::optional<double> watts;  // energy over time
  std::optional<Joules> energy;

  // Percent of GFLOPS for each mm2 more, or each watt more; empty where there is no gain or where
  // it costs nothing.
  std::optional<double> per_area() const;
  std::optional<double> per_watt() const;
};
// All knobs of the machine but latencies, what brings most for its area first: before the others
// what gains without more area, as far as the model knows; then by gain over area. What brings
// nothing stands at the end. Without a model by gain alone. Options as for curve(). Interrupted,
// throws.
std::vector<Worth> worth_of_knobs(const Contraction& contraction, const Machine& machine,
                                  const CostModel* model, const ExploreOptions& options);

// "+12.3 % GFLOPS for 4.84 mm2 (2.54 % for each)": what a knob brings, in words.
std::string worth_words(const Worth& worth);

// Of two knobs' machines, each its area (or price, where the model has one), and whether none of
// the others is at least as quick for at most as much: the Pareto front. NaN and false where there
// is no such machine. Throws UsageError where the model has neither areas nor a price for
// `machine`.
struct PlaneCosts {
  std::vector<double> costs;  // of each of the plane's points
  std::vector<bool> front;
  bool is_price = false;
};
PlaneCosts plane_costs(const Plane& plane, const Machine& machine, const CostModel& model);

}  // namespace tcsim
