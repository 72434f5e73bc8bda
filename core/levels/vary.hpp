// What would change: the optimum of a chain on a machine whose explicit levels differ.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/knob_range.hpp"
#include "core/levels/plan.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::levels {

// One of the machines that are looked at.
struct LevelPoint {
  std::vector<double> values;          // of each knob
  std::optional<LevelOptimum> answer;  // none where nothing fits, or no machine is like that
  // state_text(), "nothing fits", or why no machine is like that.
  std::string state;
  bool is_machine = true;
  double cost = 0;     // where VaryOptions say how it is counted
  bool front = false;  // no other is at least as good in everything, and differs
};

// Between two neighbouring values of a knob something changes, the others being kept: the
// bottleneck, or where an intermediate stays.
struct LevelCrossover {
  int knob = 0;
  std::vector<double>
      values;  // that of the knob: the least that was looked at where it has changed
  std::string from, to;
};

struct LevelGrid {
  std::vector<Knob> knobs;
  std::vector<LevelPoint> points;  // every combination, the last knob's value fastest
  std::vector<LevelCrossover> crossovers;
  bool complete = true;  // false: asked to stop, and this is what there is
};

struct VaryOptions {
  OptimumOptions search;
  bool overlap = false;  // Hierarchy::overlap of all of them
  // What a machine costs. Without it each knob is a cost of its own: more of what makes a machine
  // better, less of what makes it worse.
  std::function<double(const Machine&)> cost;
};

// "local-global", or "arithmetic": what takes the longest.
std::string slowest_name(const Hierarchy& hierarchy, const LevelPlan& plan);
// "C in global, D in local": where the intermediates stay; empty where there is none.
std::string homes_text(const OperationTree& tree, const Hierarchy& hierarchy,
                       const LevelPlan& plan);
// "local-global, C in global": both.
std::string state_text(const OperationTree& tree, const Hierarchy& hierarchy,
                       const LevelPlan& plan);

// Of machines at most.
inline constexpr std::size_t most_machines = 10000;

// One optimum for each combination of values. Answers of all others with as many processes count
// where they fit, so that more memory or bandwidth never takes longer. Crossovers are bisected to
// 1 %. `front` marks the Pareto front of cost and time, in steps of 0.1 %. Heeds StopScope: what
// was found until then is there. Throws UsageError for no knob, one that is there twice, or too
// many machines.
LevelGrid vary(const OperationTree& tree, const Machine& machine,
               const std::vector<KnobRange>& ranges, const VaryOptions& options = {});

// A machine with one thing changed.
struct LevelChange {
  std::string what;  // "local of 2 GB", "global-disk twice as fast"
  std::optional<LevelOptimum> answer;
};
// Half and twice each capacity, twice each link's bandwidth, and twice the processes. `base` is the
// answer for the hierarchy itself.
std::vector<LevelChange> changes(const OperationTree& tree, const Hierarchy& hierarchy,
                                 const LevelOptimum& base, const OptimumOptions& options = {});

}  // namespace tcsim::levels
