#include "gui/scene/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/bounds/link_bounds.hpp"
#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/machine/spread.hpp"
#include "core/optimize/search.hpp"
#include "core/schedule/registers.hpp"
#include "core/stop.hpp"
#include "core/threads.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/request.hpp"
#include "sim/config.hpp"

namespace tcsim::gui {

namespace {

std::vector<std::string> levelNames(const Machine& machine) {
  std::vector<std::string> names;
  for (const Level& l : machine.levels) names.push_back(l.name);
  return names;
}

// The schedule that the design keeps, if it keeps one.
bool keep(Evaluation& e) {
  const Subject& s = e.subject;
  if (s.design.schedule.empty()) return false;
  e.choice.schedule = checkedSchedule(s.design.schedule, s, "schedule");
  e.choice.prediction = predict(s.contraction, e.choice.schedule, s.machine);
  e.notCertified =
      outside_family(s.contraction, e.choice.schedule, s.machine, row_orders(s.machine, {}));
  e.settled = true;
  return true;
}

void take(Evaluation& e, Optimized best) {
  e.choice = {best.incumbent(), std::move(best.schedule), std::move(best.prediction)};
  e.certificate = best.certificate;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// By what is known, or by what is found out now.
void addBounds(Evaluation& e, std::shared_ptr<const bounds::LinkBounds> known) {
  if (!known) known = std::make_shared<const bounds::LinkBounds>(e.subject.contraction);
  e.linkBounds = std::move(known);
  e.bounds = e.linkBounds->at(e.subject.machine);
}

EvaluationPtr finished(std::shared_ptr<Evaluation> e, double began) {
  const Machine& machine = e->subject.machine;
  const Timing& timing = e->prediction().timing;
  e->bottleneck = bottleneck_name(timing, machine);
  e->sure =
      uncertainty(timing, rate_spread(machine, size_of(e->subject.contraction.type())), machine);
  if (e->subject.costModel) {
    e->cost = design_cost(*e->subject.costModel, e->subject.contraction, machine, e->prediction());
  }
  e->seconds = now() - began;
  return e;
}

// Asks to stop when the time is over, or when somebody else does.
class Deadline {
 public:
  Deadline(double seconds, const std::stop_token& other)
      : forward_(other, [this] { source_.request_stop(); }),
        clock_([this, seconds](const std::stop_token& done) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, done, std::chrono::duration<double>(seconds), [] { return false; });
          if (!done.stop_requested()) source_.request_stop();
        }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> forward_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread clock_;
};

ExploreOptions exploring(const Evaluation& e, std::stop_token stop) {
  ExploreOptions options;
  options.stop = std::move(stop);
  if (!e.subject.design.schedule.empty()) options.fixed = &e.choice.schedule;
  return options;
}

// Whether the caches of two machines do the same, whatever the model sees of them.
bool sameCaches(const Machine& a, const Machine& b) {
  return sim::system_of(view_of_one_core(a)) == sim::system_of(view_of_one_core(b));
}

}  // namespace

Subject subjectOf(const Design& design, const Machine& base) {
  return subjectOf(design, base, find_workload(design.workload));
}

Subject subjectOf(const Design& design, const Machine& base, const Contraction& contraction) {
  std::vector<std::string> notes;
  Machine machine = changed_machine(base, design, &notes);
  // Of a slider that is moved a little, the band must not vanish. With several cores measurements
  // are what is predicted from; there the window says what the command says that it copies.
  if (machine.core.cores == 1) scale_measurements(base, machine);
  if (std::string caveat = model_caveat(machine); !caveat.empty()) {
    notes.push_back(std::move(caveat));
  }
  Subject s{design, base, std::move(machine), contraction, std::move(notes)};
  if (!design.cost.empty()) {
    s.costModel = std::make_shared<const CostModel>(find_cost_model(design.cost));
  }
  return s;
}

Schedule checkedSchedule(const std::string& text, const Subject& s, const std::string& where) {
  Schedule schedule = parse_schedule(text, s.contraction, where);
  check(schedule, s.contraction, levelNames(s.machine), where);
  require_registers(schedule, s.contraction.type(), s.machine, where);
  return schedule;
}

EvaluationPtr evaluate(const Subject& subject, std::stop_token stop,
                       std::shared_ptr<const bounds::LinkBounds> linkBounds) {
  const double began = now();
  auto e = std::make_shared<Evaluation>(Evaluation{subject, {}, {}, "", "", {}, true, 0});
  if (!keep(*e)) take(*e, optimize(subject.contraction, subject.machine, std::move(stop)));
  addBounds(*e, std::move(linkBounds));
  return finished(std::move(e), began);
}

EvaluationPtr follow(const Subject& subject, const Evaluation& before, SharedCounts& counts,
                     double seconds, std::stop_token stop) {
  const double began = now();
  const auto& known = before.choice.found;
  auto linkBounds = subject.design.workload == before.subject.design.workload
                        ? before.linkBounds
                        : std::shared_ptr<const bounds::LinkBounds>();
  const auto caches = static_cast<std::size_t>(subject.machine.cache_count());
  if (!known || known->tiling.tiles.size() != caches || !subject.design.schedule.empty() ||
      !fits_core(subject.contraction, subject.machine.core, *known)) {
    return evaluate(subject, std::move(stop), std::move(linkBounds));
  }
  auto e = std::make_shared<Evaluation>(Evaluation{subject, {}, {}, "", "", {}, false, 0});
  addBounds(*e, std::move(linkBounds));
  const Machine one = view_of_one_core(subject.machine);
  e->choice = {known, build(subject.contraction, one, *known), {}};
  e->choice.prediction =
      predict(subject.contraction, e->choice.schedule, one, counts, 1, Detail::full);
  const Deadline deadline(seconds - (now() - began), stop);
  try {
    OptimizeOptions options;
    options.incumbents = {*known};
    options.counts = &counts;
    options.detail = Detail::full;  // counted once the slider rests
    take(*e, optimize(subject.contraction, subject.machine, options, deadline.token()));
  } catch (const Interrupted&) {
    if (stop.stop_requested()) throw;
  }
  return finished(std::move(e), began);
}

Helped help(const Evaluation& e, std::stop_token stop) {
  ExploreOptions options = exploring(e, std::move(stop));
  if (e.choice.found) options.incumbents = {*e.choice.found};
  return {e.subject.design, advice(e.subject.contraction, e.subject.machine, options)};
}

Worths worthOf(const Evaluation& e, std::stop_token stop) {
  ExploreOptions options = exploring(e, std::move(stop));
  if (e.choice.found) options.incumbents = {*e.choice.found};
  return {e.subject.design, worth_of_knobs(e.subject.contraction, e.subject.machine,
                                           e.subject.costModel.get(), options)};
}

SuiteJudged suiteJudged(const WorkloadRequest& suite, const Machine& machine,
                        const std::function<void(double)>& progress, std::stop_token stop) {
  const std::vector<Contraction> all = find_workloads(suite);
  std::vector<Prediction> predictions(all.size());
  std::atomic<std::size_t> next = 0, done = 0;
  const auto threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  run_on_threads(threads, [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      predictions[i] = optimize(all[i], machine, stop).prediction;
      if (progress) progress(static_cast<double>(++done) / static_cast<double>(all.size()));
    }
  });
  SuiteJudged judged{suite, machine, {}};
  for (std::size_t i = 0; i < all.size(); ++i) judged.total.add(all[i], machine, predictions[i]);
  return judged;
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
  c.range.remark = c.curve.remark;
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
  if (const auto& model = e.subject.costModel; model && (model->cost(m) || model->area(m))) {
    mapped.costs = plane_costs(mapped.plane, m, *model);
  }
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

std::string cacheNamed(const Machine& machine, const std::string& name) {
  std::string innermost;
  for (int l = machine.cache_count() - 1; l >= 0; --l) {
    innermost = machine.level(LevelId{l}).name;
    if (innermost == name) break;
  }
  return innermost;
}

bool Simulated::isOn(const Machine& other) const { return sameCaches(machine, other); }

bool SetsSeen::isOn(const Machine& other, const std::string& level) const {
  return use.level.name == level && sameCaches(machine, other);
}

SetsSeen setsSeen(const Evaluation& e, const std::string& level,
                  const std::function<void(double)>& progress, std::stop_token stop) {
  SimulationOptions options;
  options.progress = progress;
  options.stop = std::move(stop);
  const sim::SystemConfig config = sim::system_of(view_of_one_core(e.subject.machine));
  return {e.subject.design, e.subject.machine, e.choice.schedule,
          set_use(Plan(e.subject.contraction, e.choice.schedule), config,
                  cache_named(config, level, "level"), options)};
}

bool TimelineSeen::isOn(const Machine& other, const TouchRange& otherPart) const {
  return part == otherPart && sameCaches(machine, other);
}

TimelineSeen timelineSeen(const Evaluation& e, const TouchRange& part,
                          const std::function<void(double)>& progress, std::stop_token stop) {
  SimulationOptions options;
  options.progress = progress;
  options.stop = std::move(stop);
  const sim::SystemConfig config = sim::system_of(view_of_one_core(e.subject.machine));
  return {e.subject.design, e.subject.machine, e.choice.schedule, part,
          timeline(Plan(e.subject.contraction, e.choice.schedule), config, timelineFrames, part,
                   options)};
}

bool simulatedSoon(const Evaluation& e) {
  constexpr double most = 2e7;  // multiply-adds; 150 ns or less each
  return e.subject.contraction.flops() / 2 <= most;
}

namespace {

constexpr std::int64_t firstCapacity = 1024;      // bytes
constexpr std::int64_t usualCapacity = 64 << 20;  // the curve reaches at least
// Multiply-adds that all capacities' LRU caches have done in about a second.
constexpr double soonSimulated = 2e6;

bounds::Moves movesOf(const Machine& machine) {
  return machine.accounting.write_backs ? bounds::Moves::loads_and_stores : bounds::Moves::loads;
}

}  // namespace

bool BoundCurve::isOf(const Evaluation& e) const {
  return workload == e.subject.design.workload && moves == movesOf(e.subject.machine);
}

std::vector<std::int64_t> boundCapacities(const Evaluation& e) {
  const ElementType type = e.subject.contraction.type();
  const std::int64_t element = size_of(type).value();
  const std::int64_t inside = bounds::capacities_inside(e.subject.machine, type).back();
  std::vector<std::int64_t> capacities;
  for (std::int64_t bytes = firstCapacity;; bytes *= 2) {
    capacities.push_back(bytes / element);
    if (bytes >= usualCapacity && capacities.back() >= inside) return capacities;
  }
}

BoundCurve boundCurveOf(const Evaluation& e, const BoundCurve* before, bool simulate,
                        const std::function<void(double)>& progress, std::stop_token stop) {
  const Contraction& c = e.subject.contraction;
  const StopScope scope(stop);
  const double bounded = 0.5;  // share of the work that the bounds are taken to be
  const bool simulates = simulate || c.flops() / 2 <= soonSimulated;
  BoundCurve curve{e.subject.design.workload, c.type(), movesOf(e.subject.machine),
                   boundCapacities(e),        {},       {}};
  if (before != nullptr && before->isOf(e) && before->capacities == curve.capacities) {
    curve = *before;
  } else {
    const std::vector<std::int64_t> smaller = lru_schedule_capacities(curve.capacities);
    curve.points = bounds::bound_curve(
        c, curve.capacities,
        {curve.moves, stop, [&](double share) { progress(simulates ? bounded * share : share); },
         smaller});
    if (stop.stop_requested()) throw Interrupted();
  }
  if (simulates && curve.lru.empty()) {
    curve.lru = lru_curve(c, curve.points, curve.capacities,
                          [&](double share) { progress(bounded + (1 - bounded) * share); });
  }
  return curve;
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
