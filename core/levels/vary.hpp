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

struct LevelPoint {
  double value = 0;                    // of the knob
  std::optional<LevelOptimum> answer;  // none where nothing fits
};

// Between two neighbouring values something changes: the bottleneck, or where an intermediate
// stays.
struct LevelCrossover {
  double value = 0;  // the least that was looked at where it has changed
  std::string from, to;
};

struct LevelCurve {
  Knob knob;
  std::vector<LevelPoint> points;
  std::vector<LevelCrossover> crossovers;
};

// "local-global, C in global": the bottleneck, and what is fused where.
std::string state_text(const OperationTree& tree, const Hierarchy& hierarchy,
                       const LevelPlan& plan);

// One optimum for each value. Answers of neighbours count where they still fit, so that more
// memory or bandwidth never takes longer. Crossovers are bisected to 1 %. Heeds StopScope.
// `overlap` is Hierarchy::overlap of all of them.
LevelCurve vary(const OperationTree& tree, const Machine& machine, const KnobRange& range,
                bool overlap, const OptimumOptions& options = {});

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
