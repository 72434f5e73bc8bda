#include "core/explore/elasticity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

namespace {

// Factor of a knob. Source: chosen; docs/whatif.md, "Elasticities", says what it means.
constexpr double step = 1.01;

struct Case {
  std::size_t knob;
  bool up;
  double value;
  Machine machine;
  Choice choice;
};

// The next machine in that direction: 1 % away, or as far as it takes to differ, at most to four
// times or a quarter.
std::optional<Machine> neighbour(const Machine& machine, const Knob& knob, bool up) {
  std::string ignored;
  for (double by = step; by <= 4; by = by * by) {
    const double wanted = up ? knob.base * by : knob.base / by;
    const auto next = possible(machine, knob, wanted, ignored);
    if (!next) {
      if (knob.continuous()) return {};
      continue;  // such as 1 % more cores than one
    }
    const double value = value_of(*next, knob);
    if (up ? value > knob.base * (1 + 1e-12) : value < knob.base * (1 - 1e-12)) return next;
  }
  return {};
}

KnobStep step_of(const Case& c, const Knob& knob, Seconds base) {
  const double factor = c.value / knob.base;
  const double change = std::log(c.choice.time() / base);
  // A difference in the last digits is rounding.
  const double elasticity = std::abs(change) < 1e-9 ? 0 : change / std::log(factor);
  return {c.value, factor, c.choice.time(), elasticity,
          bottleneck_name(c.choice.prediction.timing, c.machine)};
}

}  // namespace

const KnobStep* Elasticity::better() const {
  if (!up) return down ? &*down : nullptr;
  return down && down->time < up->time ? &*down : &*up;
}

Elasticities elasticities(const Contraction& contraction, const Machine& machine,
                          const ExploreOptions& options) {
  Elasticities result;
  Chooser chooser(contraction, options.fixed, options.stop);
  result.base = chooser.search(machine, options.incumbents);
  std::vector<Knob> knobs = all_knobs(machine);
  std::vector<Case> cases;
  try {
    std::vector<Incumbent> incumbents = options.incumbents;
    if (result.base.found) incumbents.push_back(*result.base.found);
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      for (bool up : {true, false}) {
        auto next = neighbour(machine, knobs[k], up);
        if (!next) continue;
        const double value = value_of(*next, knobs[k]);
        try {
          Choice choice = chooser.search(*next, incumbents);
          cases.push_back({k, up, value, *std::move(next), std::move(choice)});
        } catch (const UnsupportedError&) {
        }
      }
      if (options.progress) {
        options.progress(static_cast<double>(k + 1) / static_cast<double>(knobs.size()));
      }
    }
    std::vector<Incumbent> pool;
    const auto gather = [&](const Choice& c) {
      if (c.found && std::find(pool.begin(), pool.end(), *c.found) == pool.end()) {
        pool.push_back(*c.found);
      }
    };
    gather(result.base);
    for (const Case& c : cases) gather(c.choice);
    for (const Incumbent& found : pool) {
      chooser.improve(result.base, machine, found);
      for (Case& c : cases) chooser.improve(c.choice, c.machine, found);
    }
  } catch (const Interrupted&) {
    result.complete = false;
  }
  const Timing& now = result.base.prediction.timing;
  const RateSpread spread = rate_spread(machine, size_of(contraction.type()));
  result.bottleneck = bottleneck_name(now, machine);
  result.sure = uncertainty(now, spread, machine);
  for (const Knob& knob : knobs) result.knobs.push_back({knob, {}, {}});
  for (const Case& c : cases) {
    Elasticity& e = result.knobs[c.knob];
    KnobStep step = step_of(c, e.knob, result.base.time());
    if (result.sure) {
      step.gains = share_of_gaining(now, c.choice.prediction.timing, spread, no_gain_below);
    }
    (c.up ? e.up : e.down) = std::move(step);
  }
  return result;
}

}  // namespace tcsim
