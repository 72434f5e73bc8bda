#include "core/explore/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/schedule/registers.hpp"

namespace tcsim {

namespace {

// A second link is near deciding from this share of the slowest one's time on. Source: chosen.
constexpr double near_second = 0.9;
// Factors of the knob between points of one bottleneck that are looked at, near such a link and
// elsewhere. Source: chosen.
constexpr double close_probe = 1.05, wide_probe = 1.25;
constexpr std::string_view compute = "compute";

struct Entry {
  double value;
  Machine machine;
  Choice choice;
  std::string bottleneck;
};

// Time of one bottleneck, by its name.
double seconds_of(const Entry& e, const std::string& name) {
  const Timing& t = e.choice.prediction.timing;
  if (name == compute) return t.compute.value();
  for (std::size_t l = 0; l < t.links.size(); ++l) {
    if (e.machine.link(LevelId{static_cast<int>(l)}) == name) return t.links[l].value();
  }
  return 0;
}

// Of a link, or of computing, in a RateSpread.
std::size_t index_of(const Entry& e, const std::string& name) {
  std::size_t l = 0;
  while (l < e.machine.levels.size() && e.machine.link(LevelId{static_cast<int>(l)}) != name) ++l;
  return l;
}

bool has_rival(const Entry& e) {
  const Timing& t = e.choice.prediction.timing;
  int close = t.compute >= t.total * near_second ? 1 : 0;
  for (Seconds s : t.links) close += s >= t.total * near_second ? 1 : 0;
  return close > 1;
}

std::optional<Uncertainty> sure_of(const Entry& e, Bytes element) {
  return uncertainty(e.choice.prediction.timing, rate_spread(e.machine, element), e.machine);
}

CurvePoint point_of(const Entry& e, double base, Bytes element) {
  return {e.value, e.value / base, e.choice, e.bottleneck, sure_of(e, element)};
}

class Walk {
 public:
  Walk(const Contraction& contraction, const Machine& machine, const KnobRange& range,
       const ExploreOptions& options)
      : machine_(machine),
        range_(range),
        options_(options),
        chooser_(contraction, options.fixed, options.stop) {}

  Curve run() {
    Curve curve{range_.knob, {}, {}, {}, true, range_.remark};
    std::vector<double> values = range_.values;
    std::string why;
    std::erase_if(values, [&](double v) { return lacks_registers(v, why); });
    if (!why.empty()) curve.remark += (curve.remark.empty() ? "" : "; ") + why;
    if (range_.knob.sense == Sense::worse) std::reverse(values.begin(), values.end());
    base_ = entry(range_.knob.base, machine_, options_.incumbents);
    try {
      for (double v : values) {
        add(v);
        report(static_cast<double>(entries_.size()) / static_cast<double>(values.size() + 1) / 2);
      }
      carry();
      refine();
    } catch (const Interrupted&) {
      curve.complete = false;
    }
    const Bytes element = size_of(chooser_.contraction().type());
    curve.base = point_of(*base_, range_.knob.base, element);
    for (const Entry& e : entries_) {
      if (std::binary_search(range_.values.begin(), range_.values.end(), e.value)) {
        curve.points.push_back(point_of(e, range_.knob.base, element));
      }
    }
    curve.crossovers = crossovers();
    return curve;
  }

 private:
  Entry entry(double value, Machine machine, const std::vector<Incumbent>& incumbents) {
    Entry e{value, std::move(machine), {}, ""};
    e.choice = chooser_.search(e.machine, incumbents);
    e.bottleneck = bottleneck_name(e.choice.prediction.timing, e.machine);
    return e;
  }

  // Whether a fixed schedule's kernel is too large for the core with that value. `why` then says
  // so, for the first such value.
  bool lacks_registers(double value, std::string& why) const {
    if (options_.fixed == nullptr) return false;
    try {
      require_registers(*options_.fixed, chooser_.contraction().type(),
                        with_knob(machine_, range_.knob, value), "");
      return false;
    } catch (const UnsupportedError& e) {
      if (why.empty()) {
        why = fmt::format("{} leaves out {}: {}", range_.knob.name, display(range_.knob, value),
                          e.problem());
      }
      return true;
    }
  }

  void report(double share) const {
    if (options_.progress) options_.progress(share);
  }

  std::size_t place_of(double value) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), value,
                                     [](const Entry& e, double v) { return e.value < v; });
    return static_cast<std::size_t>(at - entries_.begin());
  }

  // Adds a value that is not there yet; its search begins from its neighbours' choices. Returns
  // its place.
  std::size_t add(double value) {
    const std::size_t place = place_of(value);
    std::vector<Incumbent> incumbents;
    const auto also = [&](const Entry& e) {
      if (!e.choice.found) return;
      if (std::find(incumbents.begin(), incumbents.end(), *e.choice.found) == incumbents.end()) {
        incumbents.push_back(*e.choice.found);
      }
    };
    if (place > 0) also(entries_[place - 1]);
    if (place < entries_.size()) also(entries_[place]);
    also(*base_);
    Entry e = entry(value, with_knob(machine_, range_.knob, value), incumbents);
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place), std::move(e));
    return place;
  }

  bool improve(Entry& e, const Entry& other) {
    if (!chooser_.improve(e.choice, e.machine, other.choice.found)) return false;
    e.bottleneck = bottleneck_name(e.choice.prediction.timing, e.machine);
    return true;
  }

  // Every choice to its neighbours, until none gains.
  void carry() {
    if (chooser_.is_fixed()) return;
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
        changed |= improve(entries_[i + 1], entries_[i]);
      }
      for (std::size_t i = entries_.size(); i-- > 1;) {
        changed |= improve(entries_[i - 1], entries_[i]);
      }
      for (Entry& e : entries_) {
        changed |= improve(*base_, e);
        changed |= improve(e, *base_);
      }
    }
  }

  // Outward from a new entry, as long as it gains.
  void carry_from(std::size_t place) {
    for (std::size_t i = place; i + 1 < entries_.size(); ++i) {
      if (!improve(entries_[i + 1], entries_[i])) break;
    }
    for (std::size_t i = place; i > 0; --i) {
      if (!improve(entries_[i - 1], entries_[i])) break;
    }
  }

  // The value halfway that the machine can have; the left one's if there is none.
  double between(const Entry& left, const Entry& right) const {
    std::string ignored;
    const auto machine =
        possible(machine_, range_.knob, std::sqrt(left.value * right.value), ignored);
    const double value = machine ? value_of(*machine, range_.knob) : left.value;
    return value > left.value && value < right.value ? value : left.value;
  }

  void refine() {
    probe();
    // From the left, so that the pairs behind are done.
    for (std::size_t i = 0; i + 1 < entries_.size();) {
      const Entry& a = entries_[i];
      const Entry& b = entries_[i + 1];
      const bool differ = a.bottleneck != b.bottleneck;
      const double middle =
          differ && b.value > a.value * (1 + crossover_tolerance / 2) ? between(a, b) : a.value;
      if (middle == a.value) {
        report(0.5 + 0.5 * static_cast<double>(i + 1) / static_cast<double>(entries_.size()));
        ++i;
        continue;
      }
      carry_from(add(middle));
      // What was carried to the left may have changed there.
      while (i > 0 && entries_[i - 1].bottleneck != entries_[i].bottleneck &&
             entries_[i].value > entries_[i - 1].value * (1 + crossover_tolerance / 2) &&
             between(entries_[i - 1], entries_[i]) != entries_[i - 1].value) {
        --i;
      }
    }
  }

  // Looks between points of one bottleneck but different schedules, where another bottleneck may
  // have come and gone; closely where a second link is near.
  void probe() {
    if (chooser_.is_fixed() && range_.knob.continuous()) return;  // each link's time is monotone
    for (std::size_t i = 0; i + 1 < entries_.size();) {
      const Entry& a = entries_[i];
      const Entry& b = entries_[i + 1];
      const bool told_apart = a.bottleneck != b.bottleneck ||
                              (!chooser_.is_fixed() && a.choice.schedule == b.choice.schedule);
      const double close = has_rival(a) || has_rival(b) ? close_probe : wide_probe;
      const double middle = told_apart || b.value < a.value * close ? a.value : between(a, b);
      if (middle == a.value) {
        ++i;
      } else {
        carry_from(add(middle));
      }
    }
  }

  // Where the times of both bottlenecks are equal, each running along a power of the knob.
  double root(const Entry& a, const Entry& b) const {
    if (!range_.knob.continuous()) return b.value;
    const double at_a = std::log(seconds_of(a, a.bottleneck) / seconds_of(a, b.bottleneck));
    const double at_b = std::log(seconds_of(b, b.bottleneck) / seconds_of(b, a.bottleneck));
    const double t = at_a + at_b > 0 ? at_a / (at_a + at_b) : 0.5;
    return std::isfinite(t) ? a.value * std::pow(b.value / a.value, t) : b.value;
  }

  std::vector<Crossover> crossovers() const {
    std::vector<Crossover> all;
    const double base = range_.knob.base;
    for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
      const Entry& a = entries_[i];
      const Entry& b = entries_[i + 1];
      if (a.bottleneck == b.bottleneck) continue;
      const double value = root(a, b);
      // Two links within the tolerance of one another may change places more than once.
      if (!all.empty() && value <= all.back().value * (1 + 2 * crossover_tolerance) &&
          all.back().from == b.bottleneck) {
        all.pop_back();
        continue;
      }
      all.push_back({range_.knob.name, value, value / base, a.bottleneck, b.bottleneck,
                     packing_variants(a, b), band(i, value), sure_at(value, i)});
    }
    return all;
  }

  // Of the nearer of this entry and the next.
  std::optional<Uncertainty> sure_at(double value, std::size_t left) const {
    const Entry &a = entries_[left], &b = entries_[left + 1];
    return sure_of(value / a.value < b.value / value ? a : b,
                   size_of(chooser_.contraction().type()));
  }

  // Of the crossover between this entry and the next.
  std::optional<CrossoverBand> band(std::size_t left, double value) const {
    const Entry& a = entries_[left];
    const std::string &from = a.bottleneck, &to = entries_[left + 1].bottleneck;
    const RateSpread spread = rate_spread(a.machine, size_of(chooser_.contraction().type()));
    const TimeFactors &slows_from = spread.at(index_of(a, from)),
                      &slows_to = spread.at(index_of(a, to));
    if (slows_from.size() == 1 && slows_to.size() == 1) return {};
    // In a draw they are equally slow where `to` takes so many times what `from` takes.
    const auto [low, high] = ratio_band(slows_from, slows_to);
    return CrossoverBand{reached(left, value, from, to, std::min(1.0, low), false),
                         reached(left, value, from, to, std::max(1.0, high), true)};
  }

  // Going from a crossover to larger values, or to smaller ones: where the time of `to` is first
  // `ratio` times that of `from`. Between two entries the ratio runs along a power of the knob.
  std::optional<double> reached(std::size_t left, double value, const std::string& from,
                                const std::string& to, double ratio, bool up) const {
    double near = value, log_near = 0;
    const double wanted = std::log(ratio);
    for (std::size_t i = up ? left + 1 : left; i < entries_.size(); i += up ? 1 : -1) {
      const Entry& e = entries_[i];
      const double at = std::log(seconds_of(e, to) / seconds_of(e, from));
      if (!std::isfinite(at)) return {};
      if (up ? at >= wanted : at <= wanted) {
        // The value from which on `to` decides: going down it is the one before.
        if (!range_.knob.continuous()) return up ? e.value : near;
        const double t = at == log_near ? 0 : (wanted - log_near) / (at - log_near);
        return near * std::pow(e.value / near, std::clamp(t, 0.0, 1.0));
      }
      near = e.value;
      log_near = at;
    }
    return {};
  }

  // Bytes over the link of that name, as a multiple of those that count, if `times` what packing
  // reads of the operands there counted too.
  double with_packing(const Entry& e, const std::string& name, int times) const {
    const Traffic& traffic = e.choice.prediction.traffic;
    for (std::size_t l = 1; l < traffic.links.size(); ++l) {
      if (e.machine.link(LevelId{static_cast<int>(l)}) != name) continue;
      Bytes reads;
      for (TensorId t : {TensorId::A, TensorId::B}) {
        reads += traffic.links[l].at(Phase::packing, array_of(t)).in;
      }
      const auto counted =
          static_cast<double>(traffic.links[l].counted(e.machine.accounting).value());
      return 1 + times * static_cast<double>(reads.value()) / counted;
    }
    return 1;  // registers, where kernels alone count, or compute
  }

  std::vector<PackingVariant> packing_variants(const Entry& a, const Entry& b) const {
    if (machine_.accounting.packing) return {};
    for (std::size_t l = 0; l < machine_.levels.size(); ++l) {
      const std::string link = machine_.link(LevelId{static_cast<int>(l)});
      if (range_.knob.name != machine_.levels[l].name + ".bandwidth") continue;
      if (link != a.bottleneck && link != b.bottleneck) return {};
      const std::string other = link == a.bottleneck ? b.bottleneck : a.bottleneck;
      // The link's time falls with the knob, the other's does not depend on it.
      const double factor = a.value / range_.knob.base * seconds_of(a, link) / seconds_of(a, other);
      const auto variant = [&](int times) {
        return factor * with_packing(a, link, times) / with_packing(a, other, times);
      };
      return {{"computation only", factor},
              {"with packing's reads", variant(1)},
              {"with packing's reads and writes", variant(2)}};
    }
    return {};
  }

  const Machine& machine_;
  const KnobRange& range_;
  const ExploreOptions& options_;
  Chooser chooser_;
  std::optional<Entry> base_;
  std::vector<Entry> entries_;  // by value
};

}  // namespace

Curve curve(const Contraction& contraction, const Machine& machine, const KnobRange& range,
            const ExploreOptions& options) {
  return Walk(contraction, machine, range, options).run();
}

}  // namespace tcsim
