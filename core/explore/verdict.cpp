#include "core/explore/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/units/text.hpp"

namespace tcsim {

namespace {

// How far the strongest knob is turned to move the bottleneck, as a factor, and points on the way.
// Source: chosen.
constexpr double reach = 16;
constexpr int reach_points = 9;

double gain(const Elasticity& e) {
  const KnobStep* s = e.better();
  if (s == nullptr) return 0;
  return s->factor > 1 ? -s->elasticity : s->elasticity;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? names[i] : (i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

std::string percent(double share) {
  const double p = 100 * share;
  // Two significant digits or so; rounding makes no "-0".
  const int digits = std::abs(p) < 1 ? 2 : 1;
  const double shown = std::round(p * std::pow(10, digits)) / std::pow(10, digits);
  return fmt::format("{:+.{}f} %", shown == 0 ? 0.0 : shown, digits);
}

// " in 93 of 100 draws of the measured rates"; empty where the measurement leaves no doubt.
std::string in_draws(const std::optional<double>& share) {
  return !share || is_seen(*share) ? "" : " in " + draws_words(*share);
}

// What brings something in most draws, of all but the strongest knob: " +1.0 % L1 bandwidth gains
// in 40 of 100." Empty where the measurement leaves no doubt that the strongest gains.
std::string other_words(const Elasticities& elasticities, const Elasticity* strongest) {
  if (strongest != nullptr) {
    const auto& gains = strongest->better()->gains;
    if (!gains || is_seen(*gains)) return "";
  }
  const Elasticity* other = nullptr;
  for (const Elasticity& e : elasticities.knobs) {
    const KnobStep* s = e.better();
    if (gain(e) > 1e-6 || s == nullptr || !s->gains || is_unseen(*s->gains)) continue;
    if (other == nullptr || *s->gains > *other->better()->gains) other = &e;
  }
  if (other == nullptr) return "";
  const KnobStep& s = *other->better();
  return fmt::format(" {} {} gains in {} of 100{}.", change_words(s.factor),
                     knob_words(other->knob), hundredths(*s.gains),
                     strongest == nullptr ? " draws" : "");
}

}  // namespace

std::string knob_words(const Knob& knob) {
  const auto dot = knob.name.find('.');
  std::string owner = knob.name.substr(0, dot), field = knob.name.substr(dot + 1);
  if (owner == "core" && field == "cores") return "cores at work";
  if (owner == "caches") return "line size";
  for (char& c : field) {
    if (c == '_') c = ' ';
  }
  if (field == "fma per cycle") field = "FMA per cycle";
  return owner + " " + field;
}

std::vector<const Elasticity*> strongest(const Elasticities& elasticities) {
  double most = 0;
  for (const Elasticity& e : elasticities.knobs) most = std::max(most, gain(e));
  std::vector<const Elasticity*> all;
  for (const Elasticity& e : elasticities.knobs) {
    if (gain(e) > 1e-6 && gain(e) >= most * (1 - 1e-6)) all.push_back(&e);
  }
  return all;
}

std::optional<Crossover> next_crossover(const Contraction& contraction, const Machine& machine,
                                        const Elasticities& elasticities,
                                        const ExploreOptions& options) {
  ExploreOptions from_base = options;
  from_base.progress = nullptr;
  if (elasticities.base.found) from_base.incumbents.push_back(*elasticities.base.found);
  for (const Elasticity* e : strongest(elasticities)) {
    const bool up = e->better()->factor > 1;
    const std::string spec = up ? fmt::format("1x..{}x", reach) : fmt::format("{}x..1x", 1 / reach);
    const KnobRange range =
        parse_knob_range(machine, fmt::format("{}={}:{}", e->knob.name, spec, reach_points));
    const Curve c = curve(contraction, machine, range, from_base);
    if (!c.crossovers.empty()) return up ? c.crossovers.front() : c.crossovers.back();
  }
  return {};
}

std::vector<LargerCache> larger_caches(const Contraction& contraction, const Machine& machine,
                                       const Elasticities& elasticities,
                                       const ExploreOptions& options) {
  std::vector<LargerCache> all;
  ExploreOptions from_base = options;
  from_base.progress = nullptr;
  if (elasticities.base.found) from_base.incumbents.push_back(*elasticities.base.found);
  for (int l = 0; l < machine.cache_count(); ++l) {
    const std::string& name = machine.level(LevelId{l}).name;
    const KnobRange range = parse_knob_range(machine, fmt::format("{}.capacity=1x..4x:2", name));
    const Curve c = curve(contraction, machine, range, from_base);
    if (!c.complete || c.points.empty()) break;
    LargerCache larger{name, c.points.back().factor, c.points.back().choice.time()};
    if (elasticities.sure) {
      larger.gains = share_of_gaining(
          elasticities.base.prediction.timing, c.points.back().choice.prediction.timing,
          rate_spread(machine, size_of(contraction.type())), no_gain_below);
    }
    all.push_back(std::move(larger));
  }
  return all;
}

std::string change_words(double factor) {
  if (factor >= 2 || factor <= 0.5) return fmt::format("{:.3g} times", factor);
  return percent(factor - 1);
}

std::string band_words(const CrossoverBand& band, double base) {
  const auto end = [&](double value) { return change_words(value / base); };
  if (band.low && band.high) {
    return fmt::format("{} to {} in 90 of 100 draws", end(*band.low), end(*band.high));
  }
  if (band.low) return fmt::format("at least {} in 95 of 100 draws", end(*band.low));
  if (band.high) return fmt::format("at most {} in 95 of 100 draws", end(*band.high));
  return "anywhere in the range, or beyond it";
}

std::string help_words(const Machine& machine, const Elasticities& elasticities,
                       const std::optional<Crossover>& next,
                       const std::vector<LargerCache>& caches) {
  const Seconds base = elasticities.base.time();
  const auto faster = [&](Seconds time) { return percent(base / time - 1); };
  std::string text;
  const auto best = strongest(elasticities);
  const Elasticity* told = nullptr;
  if (best.empty()) {
    text = "No knob of this machine changes the time by itself.";
  } else {
    const Elasticity* e = best.front();
    for (const Elasticity* other : best) {
      if (next && other->knob.name == next->knob) e = other;
    }
    told = e;
    const KnobStep& s = *e->better();
    text = fmt::format("{} {} brings {} GFLOPS{}", change_words(s.factor), knob_words(e->knob),
                       faster(s.time), in_draws(s.gains));
    if (next) {
      text += fmt::format("; {} ({}{}) moves the bottleneck to {}", change_words(next->factor),
                          display(e->knob, next->value),
                          next->band ? "; " + band_words(*next->band, e->knob.base) : "",
                          s.factor > 1 ? next->to : next->from);
    }
    text += ".";
  }
  text += other_words(elasticities, told);
  std::vector<std::string> idle;
  double tried = HUGE_VAL;
  for (const LargerCache& c : caches) {
    const bool by_figures = c.time < base * (1 - no_gain_below);
    if (c.gains ? is_unseen(*c.gains) : !by_figures) {
      idle.push_back(c.level);
      tried = std::min(tried, c.factor);
    } else if (by_figures) {
      text += fmt::format(" {} {} brings {} GFLOPS{}.", change_words(c.factor), c.level,
                          faster(c.time), in_draws(c.gains));
    } else {
      text += fmt::format(" {} {} brings something in {}, nothing by the figures.",
                          change_words(c.factor), c.level, draws_words(*c.gains));
    }
  }
  if (!idle.empty()) {
    text +=
        fmt::format(" A larger {} changes nothing (tried to {:.3g} times).", listed(idle), tried);
  }
  const std::string roof = roof_words(machine, elasticities.base);
  return roof.empty() ? text : text + " " + roof;
}

std::string rate_words(const Machine& machine, const Prediction& prediction, Bytes element) {
  const FlopsPerSecond peak = machine.peak(element);
  const double share = prediction.rate / peak;
  const std::string of = fmt::format("{:.4g} GFLOPS", peak.value() / 1e9);
  if (machine.accounting.compute_roof) {
    return fmt::format("{:.1f} % of what the core's multiply-adds reach, {}", 100 * share, of);
  }
  if (share <= 1) {
    return fmt::format(
        "{:.1f} % of what the core's multiply-adds reach, {}; this accounting times moving data "
        "alone",
        100 * share, of);
  }
  return fmt::format(
      "No core runs that fast: its multiply-adds reach {}. This accounting times moving data "
      "alone, as if computing took no time",
      of);
}

std::string roof_words(const Machine& machine, const Choice& choice) {
  if (!machine.accounting.compute_roof) return "";
  const Timing& t = choice.prediction.timing;
  Seconds slowest;
  std::size_t link = 0;
  for (std::size_t l = 0; l < t.links.size(); ++l) {
    if (t.links[l] > slowest) {
      slowest = t.links[l];
      link = l;
    }
  }
  const std::string name = machine.link(LevelId{static_cast<int>(link)});
  if (t.compute >= t.total) {
    return fmt::format("Computing decides: {}; the slowest link, {}, needs {}.",
                       to_display(t.compute), name, to_display(slowest));
  }
  return fmt::format("Computing does not decide: {}, and {} over {}.", to_display(t.compute),
                     to_display(slowest), name);
}

}  // namespace tcsim
