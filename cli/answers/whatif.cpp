#include "cli/answers/whatif.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace tcsim::cli {

namespace {

constexpr int points_of_one = 17, points_of_two = 9;

}  // namespace

std::vector<KnobRange> knob_ranges(const std::vector<std::string>& given, const Machine& machine) {
  std::vector<KnobRange> all;
  if (given.size() > 2) {
    throw UsageError("--vary", fmt::format("{} knobs vary", given.size()),
                     "vary at most two at once");
  }
  for (const std::string& text : given) {
    all.push_back(given.size() == 1
                      ? parse_knob_range(machine, text, points_of_one)
                      : parse_knob_range(machine, text, points_of_two, Ends::as_given));
    if (all.size() == 2 && all[0].knob.name == all[1].knob.name) {
      throw UsageError("--vary", fmt::format("{} varies twice", all[0].knob.name),
                       "vary two different knobs");
    }
  }
  return all;
}

void explore(WhatIf& w, ExploreOptions options) {
  if (w.ranges.size() == 1) {
    w.curve = curve(w.workload, w.machine, w.ranges[0], options);
    w.base = w.curve->base;
    w.complete = w.curve->complete;
    w.ranges[0].remark = w.curve->remark;
  } else if (w.ranges.size() == 2) {
    w.plane = plane(w.workload, w.machine, w.ranges[0], w.ranges[1], options);
    w.base = w.plane->base;
    w.complete = w.plane->complete;
  }
  if (!w.complete) return;
  if (w.base.choice.found) options.incumbents.push_back(*w.base.choice.found);
  try {
    w.advice = advice(w.workload, w.machine, options);
  } catch (const Interrupted&) {
    if (w.ranges.empty()) throw;
    w.complete = false;
    return;
  }
  const Elasticities& e = w.advice->elasticities;
  if (w.ranges.empty()) w.base = {1, 1, e.base, e.bottleneck, e.sure};
  if (w.model && w.plane) w.plane_costs = plane_costs(*w.plane, w.machine, *w.model);
  if (w.model) w.cost = design_cost(*w.model, w.workload, w.machine, w.base.choice.prediction);
  if (!w.wants_worth) return;
  try {
    w.worth = worth_of_knobs(w.workload, w.machine, w.model ? &*w.model : nullptr, options);
  } catch (const Interrupted&) {
    w.complete = false;
  }
}

}  // namespace tcsim::cli
