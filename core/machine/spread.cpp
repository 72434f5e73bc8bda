#include "core/machine/spread.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/machine/share.hpp"

namespace tcsim {

namespace {

// The middle one, or the mean of the middle two.
double middle_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

// Rates of one kind of series on one working set.
struct Plateau {
  Bytes working_set;
  std::vector<double> rates;
  double median = 0;
};

// Series that differ in nothing but their working set, by which they are sorted.
struct Kind {
  Bytes element;
  std::string instruction_set;
  std::vector<Plateau> sets;
};

TimeFactors factors_of(std::vector<double> rates) {
  if (rates.size() < 2) return {1};
  const double middle = middle_of(rates);
  for (double& r : rates) r = middle / r;
  std::sort(rates.begin(), rates.end());
  return rates;
}

template <class Rate>
std::vector<double> values_of(const std::vector<Rate>& rates) {
  std::vector<double> values;
  for (const Rate& r : rates) values.push_back(r.value());
  return values;
}

// What rounding to four digits changes at most, as a share.
constexpr double four_digits = 5e-4 * (1 + 1e-9);

// How far the medians of a plateau's working sets are from its figure at most, as a share: beyond
// that a series is called unstable (docs/probe.md).
constexpr double off_plateau = 0.10;

// In the unit of the level's figure.
std::vector<Kind> kinds_of(const Level& level, Hertz clock) {
  std::vector<Kind> kinds;
  const bool per_cycle = level.bandwidth.value.unit == Bandwidth::Unit::bytes_per_cycle;
  for (const BandwidthSeries& s : level.series) {
    if (s.mix != AccessMix::load_fma_store || s.cores != 1 || s.repetitions.empty()) continue;
    auto kind = std::ranges::find_if(kinds, [&](const Kind& k) {
      return k.element == s.element && k.instruction_set == s.instruction_set;
    });
    if (kind == kinds.end()) {
      kinds.push_back({s.element, s.instruction_set, {}});
      kind = std::prev(kinds.end());
    }
    std::vector<double> rates = values_of(s.repetitions);
    if (per_cycle) {
      const Hertz frequency = s.frequency > Hertz(0) ? s.frequency : clock;
      for (double& r : rates) r /= frequency.value();
    }
    const double middle = middle_of(rates);
    kind->sets.push_back({s.working_set, std::move(rates), middle});
  }
  for (Kind& k : kinds) {
    std::ranges::stable_sort(k.sets, {}, &Plateau::working_set);
  }
  return kinds;
}

// The repetitions that the level's figure was drawn from; empty if there are none.
std::vector<double> drawn_from(const Level& level, Hertz clock) {
  const double figure = level.bandwidth.value.value, close = four_digits * figure;
  std::vector<double> best;
  const Plateau* nearest = nullptr;
  const std::vector<Kind> kinds = kinds_of(level, clock);
  for (const Kind& k : kinds) {
    for (auto first = k.sets.begin(); first != k.sets.end(); ++first) {
      if (nearest == nullptr ||
          std::abs(first->median - figure) < std::abs(nearest->median - figure)) {
        nearest = &*first;
      }
      std::vector<double> rates;
      for (auto last = first; last != k.sets.end(); ++last) {
        if (std::abs(last->median - figure) > off_plateau * figure) break;
        rates.insert(rates.end(), last->rates.begin(), last->rates.end());
        if (rates.size() <= best.size()) continue;
        if (std::abs(middle_of(rates) - figure) <= close) best = rates;
      }
    }
  }
  if (!best.empty() || nearest == nullptr) return best;
  // A figure far above all that was measured did not come from it.
  return nearest->median < (1 - off_plateau) * figure ? std::vector<double>{} : nearest->rates;
}

// Of the series of one core and this element the quickest, which is that of the widest vectors.
TimeFactors peak_factors(const Core& core, Bytes element) {
  const PeakSeries* best = nullptr;
  for (const PeakSeries& s : core.peaks) {
    if (s.element != element || s.cores != 1 || s.repetitions.empty()) continue;
    if (best == nullptr || s.median() > best->median()) best = &s;
  }
  return best == nullptr ? TimeFactors{1} : factors_of(values_of(best->repetitions));
}

template <class Series>
void scale(std::vector<Series>& all, double factor) {
  if (factor == 1) return;
  for (Series& s : all) {
    for (auto& r : s.repetitions) r = factor * r;
  }
}

}  // namespace

bool RateSpread::known() const {
  return compute.size() > 1 ||
         std::ranges::any_of(links, [](const TimeFactors& f) { return f.size() > 1; });
}

RateSpread rate_spread(const Machine& machine, Bytes element) {
  RateSpread spread;
  const int cores = machine.core.cores;
  for (const Level& level : machine.levels) {
    const BandwidthSeries* shared = cores > 1 ? series_of_cores(level, cores) : nullptr;
    spread.links.push_back(factors_of(shared != nullptr
                                          ? values_of(shared->repetitions)
                                          : drawn_from(level, machine.core.frequency.value)));
  }
  spread.compute = peak_factors(machine.core, element);
  return spread;
}

void scale_measurements(const Machine& machine, Machine& changed) {
  const Hertz before = machine.core.frequency.value, now = changed.core.frequency.value;
  for (std::size_t l = 0; l < changed.levels.size(); ++l) {
    std::vector<BandwidthSeries>& series = changed.levels[l].series;
    series = machine.levels[l].series;
    scale(series, changed.levels[l].bandwidth.value.at(now).value() /
                      machine.levels[l].bandwidth.value.at(before).value());
    if (now == before) continue;
    for (BandwidthSeries& s : series) s.frequency = (now / before) * s.frequency;
  }
  changed.core.peaks = machine.core.peaks;
  scale(changed.core.peaks, changed.peak(Bytes(8)).value() / machine.peak(Bytes(8)).value());
}

}  // namespace tcsim
