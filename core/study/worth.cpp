#include "core/study/worth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/explore/pareto.hpp"
#include "core/explore/verdict.hpp"
#include "core/study/study.hpp"

namespace tcsim {

namespace {

// How far a knob is turned. Source: chosen; a cache is doubled or it is not.
constexpr double far = 2;

// Costs less than this are none: mm2 and W. Source: chosen, beyond what a model's figures say.
constexpr double no_area = 1e-9, no_watts = 1e-9;

std::optional<double> over(double gain, const std::optional<double>& more, double none) {
  if (!(gain > 0) || !more || !(*more > none)) return {};
  return 100 * gain / *more;
}

struct TurnedMachine {
  Worth worth;
  Machine machine;
  Choice choice;
};

// The machine on which a knob is turned; empty where no machine has more of it (less where that is
// better), such as half a core.
std::optional<TurnedMachine> turned(const Machine& machine, const Knob& knob) {
  const bool less = knob.sense == Sense::worse;
  KnobRange range;
  try {
    range = parse_knob_range(machine, less ? fmt::format("{}={}x..1x:2", knob.name, 1 / far)
                                           : fmt::format("{}=1x..{}x:2", knob.name, far));
  } catch (const UsageError&) {
    return {};
  }
  if (range.values.empty()) return {};
  const double value = less ? range.values.front() : range.values.back();
  if (value == knob.base) return {};
  Worth w;
  w.knob = knob;
  w.value = value;
  w.factor = value / knob.base;
  return TurnedMachine{std::move(w), with_knob(machine, knob, value), {}};
}

// One that stays where it is.
Worth idle(const Knob& knob, const Machine& machine, const Choice& base) {
  Worth w;
  w.knob = knob;
  w.value = knob.base;
  w.time = base.time();
  w.bottleneck = bottleneck_name(base.prediction.timing, machine);
  return w;
}

Worth weighed(const Contraction& contraction, const Machine& machine, TurnedMachine c,
              const CostModel* model, const Choice& base) {
  Worth w = std::move(c.worth);
  w.time = c.choice.time();
  w.bottleneck = bottleneck_name(c.choice.prediction.timing, c.machine);
  const double gain = base.time() / w.time - 1;
  w.gain = gain >= no_gain_below ? gain : 0;
  if (model == nullptr) return w;
  const DesignCost was = design_cost(*model, contraction, machine, base.prediction);
  const DesignCost is = design_cost(*model, contraction, c.machine, c.choice.prediction);
  if (was.area && is.area) w.area = *is.area - *was.area;
  if (was.energy && is.energy) {
    w.energy = *is.energy - *was.energy;
    w.watts = is.watts - was.watts;
  }
  return w;
}

// Of what gains. Without more area, as far as is known, it is the better the more it gains.
bool is_better(const Worth& a, const Worth& b) {
  const auto x = a.per_area(), y = b.per_area();
  if (x.has_value() != y.has_value()) return !x.has_value();
  return x ? *x > *y : a.gain > b.gain;
}

}  // namespace

CostModel find_cost_model(const std::string& name) {
  return parse_cost_model(shipped_sources("cost").cost_model(name), name);
}

std::vector<std::string> shipped_cost_models() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& e :
       std::filesystem::directory_iterator(data_dir() / "data" / "costs", ignored)) {
    if (e.path().extension() == ".toml") names.push_back(e.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

DesignCost design_cost(const CostModel& model, const Contraction& contraction,
                       const Machine& machine, const Prediction& prediction) {
  const Machine with = model.with_energy(machine);
  const Seconds time = prediction.timing.total;
  DesignCost d;
  d.area = model.area(machine);
  d.price = model.cost(machine);
  Joules sum;
  bool known = true;
  for (const CostModel::Part& part : model.parts(machine)) {
    PartCost p{part.name, part.area, {}, Joules(part.power * time.value())};
    sum += p.standing;
    d.parts.push_back(std::move(p));
  }
  const Bytes element = size_of(contraction.type());
  const Joules adding(contraction.flops() / 2 * model.fma_energy(machine, element));
  if (adding.value() > 0) d.parts.front().moving = adding;
  sum += adding;
  for (std::size_t l = 0; l < with.levels.size(); ++l) {
    const auto& per_byte = with.levels[l].energy;
    if (!per_byte) {
      known = false;
      continue;
    }
    const auto& links = prediction.traffic.links;
    d.parts[l + 1].moving = links[l].counted(machine.accounting) * per_byte->value;
  }
  if (known) {
    for (std::size_t l = 0; l < with.levels.size(); ++l) sum += *d.parts[l + 1].moving;
  }
  if (known || sum.value() > 0) {
    d.energy = sum;
    d.watts = sum.value() / time.value();
  }
  return d;
}

std::optional<double> Worth::per_area() const { return over(gain, area, no_area); }
std::optional<double> Worth::per_watt() const { return over(gain, watts, no_watts); }

std::vector<Worth> worth_of_knobs(const Contraction& contraction, const Machine& machine,
                                  const CostModel* model, const ExploreOptions& options) {
  Chooser chooser(contraction, options.fixed, options.stop);
  Choice base = chooser.search(machine, options.incumbents);
  std::vector<Incumbent> incumbents = options.incumbents;
  if (base.found) incumbents.push_back(*base.found);
  std::vector<Knob> knobs = all_knobs(machine);
  std::erase_if(knobs, [](const Knob& k) { return k.name.ends_with(".latency"); });
  std::vector<std::optional<TurnedMachine>> cases;
  for (const Knob& knob : knobs) {
    if (options.stop.stop_requested()) throw Interrupted();
    cases.push_back(turned(machine, knob));
    std::optional<TurnedMachine>& c = cases.back();
    try {
      if (c) c->choice = chooser.search(c->machine, incumbents);
    } catch (const UnsupportedError&) {
      c.reset();  // the model does not cover such a machine
    }
    if (options.progress) {
      options.progress(static_cast<double>(cases.size()) / static_cast<double>(knobs.size()));
    }
  }
  // So that a gain is the knob's doing and not that of a luckier search.
  for (const auto& c : cases) {
    if (c && c->choice.found) chooser.improve(base, machine, *c->choice.found);
  }
  std::vector<Worth> all;
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    if (cases[k] && base.found) chooser.improve(cases[k]->choice, cases[k]->machine, *base.found);
    all.push_back(cases[k] ? weighed(contraction, machine, *std::move(cases[k]), model, base)
                           : idle(knobs[k], machine, base));
  }
  const auto gaining =
      std::stable_partition(all.begin(), all.end(), [](const Worth& w) { return w.gain > 0; });
  std::stable_sort(all.begin(), gaining, is_better);
  return all;
}

std::string worth_words(const Worth& w) {
  if (!(w.gain > 0)) return "nothing";
  std::string text = fmt::format("{} GFLOPS", change_words(1 + w.gain));
  const auto each = [](const std::optional<double>& per) {
    return per ? fmt::format(" ({:.3g} % for each)", *per) : std::string();
  };
  if (w.area) text += fmt::format(" for {:.3g} mm2{}", *w.area, each(w.per_area()));
  if (w.watts) {
    text += fmt::format("{} {:.3g} W{}", w.area ? " and" : " for", *w.watts, each(w.per_watt()));
  }
  return text;
}

PlaneCosts plane_costs(const Plane& plane, const Machine& machine, const CostModel& model) {
  PlaneCosts all;
  all.is_price = model.cost(machine).has_value();
  if (!all.is_price && !model.area(machine)) {
    throw UsageError(
        "--cost", fmt::format("{} has neither a price nor areas for {}", model.name, machine.name),
        "give a model with rules for its core or its levels");
  }
  ParetoFrontOf<std::array<double, 2>> front;
  for (std::size_t i = 0; i < plane.points.size(); ++i) {
    const PlanePoint& p = plane.points[i];
    all.costs.push_back(std::nan(""));
    if (!p.choice) continue;
    const Machine m =
        with_knob(with_knob(machine, plane.knobs[0], p.values[0]), plane.knobs[1], p.values[1]);
    all.costs.back() = all.is_price ? *model.cost(m) : *model.area(m);
    front.add(static_cast<std::int64_t>(i), {p.choice->time().value(), all.costs.back()});
  }
  all.front.resize(plane.points.size());
  for (const auto& entry : front.entries())
    all.front[static_cast<std::size_t>(entry.design)] = true;
  return all;
}

}  // namespace tcsim
