#include "gui/scene/evaluation.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/workload/request.hpp"
#include "sim/config.hpp"

namespace tcsim::gui {

namespace {

std::vector<std::string> levelNames(const Machine& machine) {
  std::vector<std::string> names;
  for (const Level& l : machine.levels) names.push_back(l.name);
  return names;
}

void choose(Evaluation& e, const Evaluation* before, std::stop_token stop) {
  const Subject& s = e.subject;
  if (!s.design.schedule.empty()) {
    e.choice.schedule = parse_schedule(s.design.schedule, "schedule");
    check(e.choice.schedule, s.contraction, levelNames(s.machine), "schedule");
    e.choice.prediction = predict(s.contraction, e.choice.schedule, s.machine);
    e.settled = true;
    return;
  }
  OptimizeOptions options;
  if (before != nullptr && before->choice.tiling) options.incumbents = {*before->choice.tiling};
  Optimized best = optimize(s.contraction, s.machine, options, std::move(stop));
  e.choice = {std::move(best.tiling), std::move(best.schedule), std::move(best.prediction)};
  e.certificate = best.certificate;
  e.settled = options.incumbents.empty();
}

ExploreOptions exploring(const Evaluation& e, std::stop_token stop) {
  ExploreOptions options;
  options.stop = std::move(stop);
  if (!e.subject.design.schedule.empty()) options.fixed = &e.choice.schedule;
  return options;
}

}  // namespace

Subject subjectOf(const Design& design, const Machine& base) {
  return subjectOf(design, base, find_workload(design.workload));
}

Subject subjectOf(const Design& design, const Machine& base, const Contraction& contraction) {
  std::vector<std::string> notes;
  Machine machine = changed_machine(base, design, &notes);
  return {design, base, std::move(machine), contraction, std::move(notes)};
}

EvaluationPtr evaluate(const Subject& subject, const Evaluation* before, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  auto e = std::make_shared<Evaluation>(Evaluation{subject, {}, {}, "", false, 0});
  choose(*e, before, std::move(stop));
  e->bottleneck = bottleneck_name(e->prediction().timing, subject.machine);
  e->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return e;
}

Helped help(const Evaluation& e, std::stop_token stop) {
  ExploreOptions options = exploring(e, std::move(stop));
  if (e.choice.tiling) options.incumbents = {*e.choice.tiling};
  return {e.subject.design, advice(e.subject.contraction, e.subject.machine, options)};
}

std::string varyText(const Subject& subject, const std::string& knob, const std::string& range) {
  const Knob k = find_knob(subject.base, knob);
  const auto dots = range.find("..");
  KnobUnit unit = k.unit;
  if (dots == std::string::npos) {
    throw UsageError("range", fmt::format("'{}' is no range", range), "write 0.25x..4x");
  }
  const double low = parse_value(k, range.substr(0, dots), unit);
  const auto colon = range.find(':', dots);
  const std::string upper =
      range.substr(dots + 2, colon == std::string::npos ? colon : colon - dots - 2);
  const double high = parse_value(k, upper, unit);
  return fmt::format("{}={}..{}{}", knob, exact(k, low), exact(k, high),
                     colon == std::string::npos ? "" : range.substr(colon));
}

Curved curveOf(const Evaluation& e, const std::string& vary,
               const std::function<void(double)>& progress, std::stop_token stop) {
  ExploreOptions options = exploring(e, std::move(stop));
  options.progress = progress;
  Curved c{e.subject.design, vary, parse_knob_range(e.subject.machine, vary), {}};
  c.curve = curve(e.subject.contraction, e.subject.machine, c.range, options);
  if (!c.curve.complete) throw Interrupted();
  return c;
}

Mapped mapOf(const Evaluation& e, const std::string& first, const std::string& second,
             const std::function<void(double)>& progress, std::stop_token stop) {
  constexpr int points = 9;  // as tcsim whatif
  ExploreOptions options = exploring(e, std::move(stop));
  options.progress = progress;
  const Machine& m = e.subject.machine;
  Mapped mapped{e.subject.design,
                {first, second},
                {parse_knob_range(m, first, points, Ends::as_given),
                 parse_knob_range(m, second, points, Ends::as_given)},
                {}};
  mapped.plane = plane(e.subject.contraction, m, mapped.ranges[0], mapped.ranges[1], options);
  if (!mapped.plane.complete) throw Interrupted();
  return mapped;
}

Simulated simulated(const Evaluation& e, const std::function<void(double)>& progress,
                    std::stop_token stop) {
  SimulationOptions options;
  options.progress = progress;
  options.stop = std::move(stop);
  const Plan plan(e.subject.contraction, e.choice.schedule);
  return {e.subject.design, e.subject.machine, e.choice.schedule,
          simulate(plan, view_of_one_core(e.subject.machine), options)};
}

Ran ran(const Evaluation& e, std::stop_token stop) {
  constexpr int repetitions = 5;  // as tcsim run
  const Plan plan(e.subject.contraction, e.choice.schedule);
  require_memory(plan);
  return {e.subject.design, e.choice.schedule, run(plan, repetitions, 1, std::move(stop))};
}

std::string naturalKnob(const Evaluation& e) {
  const int link = e.prediction().timing.bottleneck;
  const Machine& m = e.subject.machine;
  return link < static_cast<int>(m.levels.size()) ? m.level(LevelId{link}).name + ".bandwidth"
                                                  : "core.fma_per_cycle";
}

std::string secondKnob(const Evaluation& e, const std::string& first) {
  const Machine& m = e.subject.machine;
  const std::string outer = m.cache_count() == 0
                                ? m.levels.back().name + ".bandwidth"
                                : m.level(LevelId{m.cache_count() - 1}).name + ".capacity";
  return outer != first ? outer : m.levels.back().name + ".bandwidth";
}

}  // namespace tcsim::gui
