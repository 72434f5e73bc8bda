#include "core/study/level_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/stop.hpp"

namespace tcsim {

using levels::Hierarchy;
using levels::LevelOptimum;
using levels::LevelPlan;
using levels::OperationTree;

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
// Answers of designs before that a search begins from, beside that of the machine as it is.
constexpr std::size_t most_incumbents = 8;

Hierarchy hierarchy_of(const OperationTree& tree, const Machine& machine) {
  return levels::hierarchy(machine, tree.arrays.front().element);
}

// A plan deals tiles to so many processes.
bool same_processes(const Hierarchy& a, const Hierarchy& b) {
  return std::ranges::equal(a.levels, b.levels, {}, &Hierarchy::Level::instances,
                            &Hierarchy::Level::instances);
}

struct LevelStation {
  DesignPoint design;
  Hierarchy hierarchy;
  LevelOptimum answer;
};

// An optimum of each design; what was found for one is tried on those with as many processes.
void choose(const OperationTree& tree, const Hierarchy& base, const LevelOptimum& anchor,
            std::vector<LevelStation>& stations) {
  for (std::size_t i = 0; i < stations.size(); ++i) {
    LevelStation& s = stations[i];
    levels::OptimumOptions options;
    if (same_processes(base, s.hierarchy)) options.incumbents.push_back(anchor.plan);
    for (std::size_t j = i - std::min(i, most_incumbents); j < i; ++j) {
      if (!same_processes(stations[j].hierarchy, s.hierarchy)) continue;
      options.incumbents.push_back(stations[j].answer.plan);
    }
    s.answer = levels::optimum(tree, s.hierarchy, options);
  }
  for (LevelStation& s : stations) {
    std::vector<LevelPlan> others;
    for (const LevelStation& o : stations) {
      if (&o != &s && same_processes(o.hierarchy, s.hierarchy)) others.push_back(o.answer.plan);
    }
    s.answer.plan = levels::best_of(tree, s.hierarchy, s.answer.plan, others);
    s.answer.bound = std::min(s.answer.bound, s.answer.plan.time());
  }
}

std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

PointResult result_of(const OperationTree& tree, const LevelStation& s, bool simulated) {
  PointResult r;
  const LevelPlan& plan = s.answer.plan;
  r.predicted_seconds = plan.time().value();
  r.compute_seconds = plan.times.arithmetic.value();
  r.bound_seconds = s.answer.bound.value();
  r.joules = r.measured_seconds = r.simulated_seconds = not_known;
  r.bottleneck = plan.times.bottleneck();
  for (const levels::Counts::OfLink& link : plan.counts.links) {
    r.link_bytes.push_back(static_cast<double>(link.sum().bytes()));
  }
  for (Seconds t : plan.times.links) r.link_seconds.push_back(t.value());
  r.schedule = on_one_line(to_text(tree, s.hierarchy, plan.node));
  if (!simulated) return r;
  const levels::Counts counts = levels::simulate(tree, s.hierarchy, plan.node);
  for (const levels::Counts::OfLink& link : counts.links) {
    r.simulated_bytes.push_back(static_cast<double>(link.sum().bytes()));
  }
  r.simulated_seconds = levels::times(s.hierarchy, counts).total().value();
  return r;
}

}  // namespace

std::optional<LeftOut> lack_of_room(const Study& study, Anchors& anchors,
                                    const DesignPoint& design) {
  if (design.base) return {};
  for (std::size_t w = 0; w < study.workloads.size(); ++w) {
    const OperationTree& tree = study.workloads[w].chain();
    Hierarchy h;
    try {
      h = hierarchy_of(tree, design.with);
    } catch (const UnsupportedError& e) {
      return LeftOut{no_such_machine, e.place() + ": " + e.problem()};
    }
    if (study.compute == Compute::predict) {
      const LevelPlan& kept = anchors.levels_at(design.machine, w).plan;
      const Machine& machine = study.machines[design.machine].machine;
      if (!same_processes(hierarchy_of(tree, machine), h)) {
        return LeftOut{"the schedule that is kept is of another number of processes", tree.name};
      }
      if (levels::fits(h, kept.counts) && levels::has_room(tree, h, kept.homes)) continue;
      return LeftOut{"the schedule that is kept does not fit", tree.name};
    }
    try {
      levels::prescribe(tree, h);
    } catch (const UnsupportedError& e) {
      return LeftOut{"a chain does not fit", e.place() + ": " + e.problem()};
    }
  }
  return {};
}

const LevelOptimum& Anchors::levels_at(std::size_t machine, std::size_t workload) {
  Slot& slot = slots_[machine * study_.workloads.size() + workload];
  std::call_once(slot.once, [&] {
    const StopScope scope(stop_);
    const OperationTree& tree = study_.workloads[workload].chain();
    slot.levels = levels::optimum(tree, hierarchy_of(tree, study_.machines[machine].machine));
  });
  return slot.levels;
}

ChainResult Evaluator::evaluate_levels(std::int64_t number, std::int64_t most) {
  const StopScope scope(stop_);
  const Chain chain = chains_.at(number);
  const OperationTree& tree = study_.workloads[chain.workload].chain();
  ChainResult result;
  result.chain = number;
  std::vector<LevelStation> stations;
  for (DesignPoint& design : designs_of(chain, most)) {
    Hierarchy h = hierarchy_of(tree, design.with);
    stations.push_back({std::move(design), std::move(h), {}});
  }
  if (stations.empty()) return result;
  const LevelOptimum& anchor = anchors_.levels_at(chain.machine, chain.workload);
  if (study_.compute == Compute::predict) {
    for (LevelStation& s : stations) {
      s.answer.plan = levels::plan_on(tree, s.hierarchy, anchor.plan);
      s.answer.bound = Seconds(not_known);  // another schedule may be better here
      if (s.design.base) s.answer.bound = anchor.bound;
    }
  } else if (stations.front().design.base) {
    stations.front().answer = anchor;
  } else {
    choose(tree, hierarchy_of(tree, study_.machines[chain.machine].machine), anchor, stations);
  }
  const std::int64_t workloads = std::ssize(study_.workloads);
  for (const LevelStation& s : stations) {
    result.points.push_back(result_of(tree, s, study_.compute == Compute::simulate));
    PointResult& r = result.points.back();
    r.point = s.design.number * workloads + static_cast<std::int64_t>(chain.workload);
    r.searched = study_.compute != Compute::predict;
  }
  return result;
}

}  // namespace tcsim
