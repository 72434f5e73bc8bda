// A chain on explicit levels: which statements are fused at which link, in what order, with which
// tiles. The prescription of multilevel-fusion-gpu is closed form; the optimum is that of the same
// family of schedules (core/levels/shape.hpp), with a bound.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/levels/count.hpp"
#include "core/levels/shape.hpp"

namespace tcsim::levels {

struct PlannedPart {
  Part part;
  Decisions decisions;
  Values values;
};

struct LevelPlan {
  Homes homes;
  std::vector<PlannedPart> parts;
  Node node;
  Counts counts;
  LevelTimes times;

  Seconds time() const { return times.total(); }
};

// Whether the statement that makes the intermediate is fused with the one that reads it.
inline bool is_fused(const Homes& homes, int array, int link) {
  return homes[static_cast<std::size_t>(array)] <= link;
}

// The least time of the family's schedules that is proven; the plan takes `gap()` longer.
struct LevelOptimum {
  LevelPlan plan;
  Seconds bound{0};
  int programs = 0;  // geometric programs that were solved

  double gap() const { return plan.time().value() / bound.value() - 1; }
};

// Whether fusing at a link pays (Eqs. 5.1 to 5.3): the intermediate's transfers take at least
// `fraction` of the arithmetic of the statement that makes it, and of that which reads it.
struct FusionCondition {
  int array = 0;  // the intermediate
  int link = 0;
  double summed = 0;  // extents of what is summed to make it, |I(c)|
  double kept = 0;    // of what the reading statement adds to it, |B(d)| times later |B(c)|
  double limit = 0;   // 2 Lambda / (fraction C_flop), for both
  bool pays() const { return summed <= limit && kept <= limit; }
};

struct PrescribeOptions {
  double fraction = 1;  // 0 < fraction <= 1
};

std::vector<FusionCondition> fusion_conditions(const OperationTree& tree,
                                               const Hierarchy& hierarchy,
                                               const PrescribeOptions& options = {});

// Eq. 5.4: whether the first contraction, whose inputs do not fit, is still to be fused where the
// others of the list take a share q of the memory (in elements).
bool large_first_pays(double summed, double memory, double q);

// What a list of contractions that are fused at a link holds there at least, without moving
// anything twice: f(i, j) of sections 5.1 and 5.2 over its first input, its intermediates and its
// output, and all other inputs, in bytes. Of an intermediate that lives further inside, nothing.
// Those of the first and the last contraction may be left out: where they do not fit, Eq. 5.4 says
// whether they are fused and read again and again.
double fused_memory(const OperationTree& tree, const Part& list, int level, const Homes& homes,
                    bool with_ends = true);

// Never searches. Throws UnsupportedError where tiles of one do not fit, or the tensors not into
// the outermost level.
LevelPlan prescribe(const OperationTree& tree, const Hierarchy& hierarchy,
                    const PrescribeOptions& options = {});
// The same with the homes given.
LevelPlan prescribe(const OperationTree& tree, const Hierarchy& hierarchy, const Homes& homes);
// Everything goes through all levels; the baseline.
Homes unfused(const OperationTree& tree, const Hierarchy& hierarchy);

struct OptimumOptions {
  int most_programs = 1500;                    // that are solved; what is open counts in the bound
  std::vector<LevelPlan> incumbents;           // of hierarchies with as many levels and processes
  std::optional<Homes> homes;                  // these alone are looked at, and bounded
  std::function<void(double share)> progress;  // may be empty
};

// From the prescription on. Of chains of more than 6 statements its homes are looked at and those
// with everything inside one level, and the bound is what has to be moved; parts of more than 8 are
// improved step by step alone. Heeds StopScope. Throws
// UnsupportedError as prescribe().
LevelOptimum optimum(const OperationTree& tree, const Hierarchy& hierarchy,
                     const OptimumOptions& options = {});

// Of other homes than the plan's, the quickest schedule of each: those that are predicted to take
// at most `within` more than the plan (0.1: a tenth), the quickest first. Of up to 12 homes, those
// with the least to move. `progress` may be empty. Heeds StopScope.
std::vector<LevelPlan> rivals(const OperationTree& tree, const Hierarchy& hierarchy,
                              const LevelPlan& plan, double within,
                              const std::function<void(double share)>& progress = {});

// A chain done three ways, side by side.
struct LevelWays {
  LevelOptimum optimum;
  LevelPlan prescription;
  std::optional<LevelPlan> unfused;  // none where there is no room for it
};
// Throws as optimum().
LevelWays compare(const OperationTree& tree, const Hierarchy& hierarchy,
                  const OptimumOptions& options = {});

// The plan's own schedule with another hierarchy's figures, whether it fits there or not.
LevelPlan plan_on(const OperationTree& tree, const Hierarchy& hierarchy, LevelPlan plan);

// The plan with another hierarchy's figures, or that of `others` which fits there and is quickest.
LevelPlan best_of(const OperationTree& tree, const Hierarchy& hierarchy, const LevelPlan& plan,
                  const std::vector<LevelPlan>& others);

// The plan of parts that are decided. Throws TooLargeError.
LevelPlan plan_of(const OperationTree& tree, const Hierarchy& hierarchy, Homes homes,
                  std::vector<PlannedPart> parts);

}  // namespace tcsim::levels
