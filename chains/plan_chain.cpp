#include "chains/plan_chain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "chains/leaf_schedules.hpp"
#include "core/error.hpp"
#include "core/units/text.hpp"
#include "kernels/memory.hpp"

namespace tcsim::chains {

using fusion::FusedProgram;
using fusion::OperationTree;

namespace {

// Plans until tiles have all that the rest leaves, or so often; where only the least ones were
// found to fit, some more.
constexpr int most_plans = 6, more_plans = 6;
// Of the limit, what may be left over.
constexpr double left_over = 0.1;

class Planner {
 public:
  Planner(const OperationTree& tree, const Machine& machine, const ChainPlanOptions& options)
      : tree_(tree), machine_(machine), options_(options), leaves_(tree, machine, options.threads) {
    run_.buffering = options.limits.buffering;
    run_.threads = options.threads;
    run_.cold = options.cold;
    run_.leaves = options.leaves != nullptr ? options.leaves : &leaves_;
    least_ = least_memory(tree, options.limits.buffering);
  }

  ChainPlan plan() {
    const Bytes all = run_.memory = options_.limits.memory;
    if (least_ > all) refuse();
    std::optional<ChainPlan> best;
    fusion::Limits limits = options_.limits;
    limits.memory = std::max(least_, all);
    Bytes tiles = Memory::most_within(all - beside_tiles(figures(unfused_program(tree_, limits))));
    Bytes enough, too_many = all;
    for (int i = 0; i < most_plans + more_plans; ++i) {
      // What is sure to fit if anything does. Tiles of a few bytes would run for ever, so from
      // there it goes up again.
      if (tiles < least_ || (i + 1 == most_plans && !best)) tiles = least_;
      ChainPlan plan = planned(tiles);
      const Bytes left = Memory::most_within(all - beside_of(plan));
      const bool keeps = most_of(plan) <= all;
      if (keeps && (!best || plan.fusion.chosen.time < best->fusion.chosen.time)) {
        best = std::move(plan);
      }
      // Small tiles gain by what is little beside the limit, so four times as much is worth a plan.
      const auto near = [&](Bytes more) {
        return tiles > least_ && more.value() / 4 < tiles.value();
      };
      const bool full = near(left) && static_cast<double>((left - tiles).value()) <
                                          left_over * static_cast<double>(all.value());
      const bool nearly = i > 0 && near(too_many);
      if (keeps && (full || nearly)) break;
      if (!keeps && tiles == least_) break;
      (keeps ? enough : too_many) = tiles;
      tiles = enough < left && left < too_many ? left : between(enough, too_many);
    }
    if (!best) refuse();
    return *std::move(best);
  }

  ChainPlan planned(Bytes tiles) {
    fusion::FuseOptions options{options_.limits, options_.progress};
    options.limits.memory = tiles;
    ChainPlan plan{fusion::fuse(tree_, options), options.limits, {}, {}, {}};
    plan.chosen = figures(plan.fusion.chosen);
    plan.unfused = figures(plan.fusion.unfused);
    if (plan.fusion.fully_fused) plan.fully_fused = figures(*plan.fusion.fully_fused);
    return plan;
  }

 private:
  RunFigures figures(const FusedProgram& program) const {
    return run_figures(tree_, program.node, machine_, run_);
  }
  template <class F>
  static Bytes most(const ChainPlan& plan, F&& of) {
    const Bytes two = std::max(of(plan.chosen), of(plan.unfused));
    return plan.fully_fused ? std::max(two, of(*plan.fully_fused)) : two;
  }
  static Bytes most_of(const ChainPlan& plan) {
    return most(plan, [](const RunFigures& f) { return f.memory.all(); });
  }
  static Bytes beside_of(const ChainPlan& plan) { return most(plan, beside_tiles); }
  static Bytes between(Bytes enough, Bytes too_many) {
    if (enough <= Bytes(0)) return Bytes(too_many.value() / 2);
    const double mean =
        std::sqrt(static_cast<double>(enough.value()) * static_cast<double>(too_many.value()));
    return Bytes(static_cast<std::int64_t>(mean));
  }
  static Bytes beside_tiles(const RunFigures& f) { return f.memory.leaves + f.memory.files; }

  [[noreturn]] void refuse() {
    // Chunks of files grow with the limit.
    Bytes least;
    for (int i = 0; i < most_plans; ++i) {
      const Bytes needed = most_of(planned(least_));
      if (needed <= least) break;
      run_.memory = least = needed;
    }
    throw UnsupportedError(
        tree_.name, "a run does not fit into " + to_text(options_.limits.memory) + " of memory",
        "give at least " + to_text(least) + ", with which tiles are as small as they can be");
  }

  const OperationTree& tree_;
  const Machine& machine_;
  const ChainPlanOptions& options_;
  LeafSchedules leaves_;
  ChainRunOptions run_;
  Bytes least_;
};

}  // namespace

ChainPlan plan_chain(const OperationTree& tree, const Machine& machine,
                     const ChainPlanOptions& options) {
  return Planner(tree, machine, options).plan();
}

ChainPlan plan_tiles(const OperationTree& tree, const Machine& machine,
                     const ChainPlanOptions& options) {
  return Planner(tree, machine, options).planned(options.limits.memory);
}

}  // namespace tcsim::chains
