#include "core/levels/vary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"

namespace tcsim::levels {

namespace {

// Of a value, how near a crossover is looked for; and how often the distance is halved at most.
constexpr double crossover_within = 0.01;
constexpr int most_halvings = 10;

std::optional<LevelOptimum> answer_on(const OperationTree& tree, const Hierarchy& hierarchy,
                                      const OptimumOptions& options) {
  try {
    return optimum(tree, hierarchy, options);
  } catch (const UnsupportedError&) {
    return {};  // no tiles fit
  }
}

}  // namespace

std::string state_text(const OperationTree& tree, const Hierarchy& hierarchy,
                       const LevelPlan& plan) {
  const int slowest = plan.times.bottleneck();
  std::string text = slowest == hierarchy.links() ? "arithmetic" : hierarchy.link(slowest);
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    if (!tree.arrays[a].is_intermediate()) continue;
    text += fmt::format(", {} in {}", tree.arrays[a].name, hierarchy.level(plan.homes[a]).name);
  }
  return text;
}

LevelCurve vary(const OperationTree& tree, const Machine& machine, const KnobRange& range,
                bool overlap, const OptimumOptions& options) {
  LevelCurve curve{range.knob, {}, {}};
  const Bytes element = tree.arrays.front().element;
  OptimumOptions with = options;
  with.progress = {};
  const auto at = [&](double value) {
    Hierarchy h = hierarchy(with_knob(machine, range.knob, value), element);
    h.overlap = overlap;
    return h;
  };
  const auto state = [&](const LevelPoint& p) {
    return p.answer ? state_text(tree, at(p.value), p.answer->plan) : std::string("nothing fits");
  };
  const auto look = [&](double value) {
    StopScope::heed();
    LevelPoint point{value, answer_on(tree, at(value), with)};
    if (point.answer) with.incumbents.push_back(point.answer->plan);
    return point;
  };
  for (double value : range.values) {
    curve.points.push_back(look(value));
    if (options.progress) {
      options.progress(static_cast<double>(curve.points.size()) /
                       static_cast<double>(range.values.size() + 1));
    }
  }
  // What a later value found may be good for an earlier one.
  for (LevelPoint& p : curve.points) {
    if (p.answer) p.answer->plan = best_of(tree, at(p.value), p.answer->plan, with.incumbents);
  }
  for (std::size_t p = 1; p < curve.points.size(); ++p) {
    LevelPoint low = curve.points[p - 1], high = curve.points[p];
    const std::string from = state(low);
    if (from == state(high)) continue;
    for (int i = 0; i < most_halvings && high.value > low.value * (1 + crossover_within); ++i) {
      LevelPoint middle = look(std::sqrt(low.value * high.value));
      if (middle.value <= low.value || middle.value >= high.value) break;
      (state(middle) == from ? low : high) = std::move(middle);
    }
    curve.crossovers.push_back({high.value, from, state(high)});
  }
  return curve;
}

std::vector<LevelChange> changes(const OperationTree& tree, const Hierarchy& hierarchy,
                                 const LevelOptimum& base, const OptimumOptions& options) {
  std::vector<LevelChange> all;
  const auto add = [&](std::string what, const Hierarchy& h, bool same_processes) {
    StopScope::heed();
    OptimumOptions with = options;
    with.progress = {};
    if (same_processes) with.incumbents.push_back(base.plan);
    all.push_back({std::move(what), answer_on(tree, h, with)});
  };
  for (int l = 0; l < hierarchy.links(); ++l) {
    const Hierarchy::Level& level = hierarchy.level(l);
    for (const double factor : {0.5, 2.0}) {
      if (level.capacity == Bytes(0)) continue;
      Hierarchy h = hierarchy;
      const double bytes = static_cast<double>(level.capacity.value()) * factor;
      if (bytes < 1 || bytes >= 0x1p62) continue;
      h.levels[static_cast<std::size_t>(l)].capacity = Bytes(static_cast<std::int64_t>(bytes));
      add(fmt::format("{} of {}", level.name,
                      to_display(h.levels[static_cast<std::size_t>(l)].capacity)),
          h, true);
    }
    Hierarchy h = hierarchy;
    h.levels[static_cast<std::size_t>(l)].bandwidth = 2.0 * level.bandwidth;
    add(fmt::format("{} twice as fast", hierarchy.link(l)), h, true);
    if (level.instances == 1) continue;
    h = hierarchy;
    h.levels[static_cast<std::size_t>(l)].instances *= 2;
    add(fmt::format("{} instances of {}", h.instances(l), level.name), h, false);
  }
  return all;
}

}  // namespace tcsim::levels
