#include "core/explore/uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units/text.hpp"

namespace tcsim {

namespace {

// Rounding of products of shares.
constexpr double share_rounding = 1e-12;

// Times of each link, and of computing, in all its draws; ascending.
using Drawn = std::vector<std::vector<double>>;

std::vector<double> times_of(const Timing& t) {
  std::vector<double> times;
  for (Seconds s : t.links) times.push_back(s.value());
  times.push_back(t.compute.value());
  return times;
}

Drawn drawn(const Timing& timing, const RateSpread& spread) {
  const std::vector<double> times = times_of(timing);
  Drawn all;
  for (std::size_t i = 0; i < times.size(); ++i) {
    all.emplace_back();
    for (double f : spread.at(i)) all[i].push_back(times[i] * f);
  }
  return all;
}

// No draw takes less.
double least_of(const Drawn& all) {
  double least = 0;
  for (const auto& times : all) least = std::max(least, times.front());
  return least;
}

double share(std::ptrdiff_t count, std::size_t of) {
  return static_cast<double>(count) / static_cast<double>(of);
}

double share_below(const std::vector<double>& sorted, double t) {
  return share(std::lower_bound(sorted.begin(), sorted.end(), t) - sorted.begin(), sorted.size());
}

double share_up_to(const std::vector<double>& sorted, double t) {
  return share(std::upper_bound(sorted.begin(), sorted.end(), t) - sorted.begin(), sorted.size());
}

}  // namespace

std::vector<double> shares_of_deciding(const Timing& timing, const RateSpread& spread) {
  const Drawn all = drawn(timing, spread);
  const double least = least_of(all);
  std::vector<double> shares(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& own = all[i];
    for (auto t = std::lower_bound(own.begin(), own.end(), least); t != own.end(); ++t) {
      double p = 1.0 / static_cast<double>(own.size());
      for (std::size_t k = 0; k < all.size() && p > 0; ++k) {
        if (k != i) p *= k < i ? share_below(all[k], *t) : share_up_to(all[k], *t);
      }
      shares[i] += p;
    }
  }
  return shares;
}

Seconds time_quantile(const Timing& timing, const RateSpread& spread, double q) {
  const Drawn all = drawn(timing, spread);
  const double least = least_of(all);
  std::vector<double> times;
  for (const auto& own : all) {
    times.insert(times.end(), std::lower_bound(own.begin(), own.end(), least), own.end());
  }
  std::sort(times.begin(), times.end());
  const auto at = std::partition_point(times.begin(), times.end() - 1, [&](double t) {
    double p = 1;
    for (const auto& own : all) p *= share_up_to(own, t);
    return p < q - share_rounding;
  });
  return Seconds(*at);
}

double share_of_gaining(const Timing& before, const Timing& after, const RateSpread& spread,
                        double by) {
  const std::vector<double> a = times_of(before), b = times_of(after);
  const std::size_t n = a.size();
  double gaining = 0;
  // Sums over the draws of whatever decides before: it takes t, and the others no longer.
  for (std::size_t i = 0; i < n; ++i) {
    const TimeFactors& own = spread.at(i);
    for (double f : own) {
      const double t = a[i] * f, limit = (1 - by) * t;
      if (b[i] * f >= limit) continue;
      double p = 1.0 / static_cast<double>(own.size());
      for (std::size_t k = 0; k < n && p > 0; ++k) {
        if (k == i) continue;
        const TimeFactors& other = spread.at(k);
        const auto last = std::partition_point(other.begin(), other.end(), [&](double g) {
          return (k < i ? a[k] * g < t : a[k] * g <= t) && b[k] * g < limit;
        });
        p *= share(last - other.begin(), other.size());
      }
      gaining += p;
    }
  }
  return gaining;
}

bool is_seen(double share) { return share >= band_high - share_rounding; }
bool is_unseen(double share) { return share <= band_low + share_rounding; }

std::pair<double, double> ratio_band(const TimeFactors& above, const TimeFactors& below) {
  std::vector<double> ratios;
  ratios.reserve(above.size() * below.size());
  for (double x : above) {
    for (double y : below) ratios.push_back(x / y);
  }
  // The least that at least a share q of them does not exceed.
  const auto quantile = [&](double q) {
    const double rank = std::ceil(q * static_cast<double>(ratios.size()) - share_rounding);
    const auto at = ratios.begin() + static_cast<std::ptrdiff_t>(std::max(1.0, rank)) - 1;
    std::nth_element(ratios.begin(), at, ratios.end());
    return *at;
  };
  const double low = quantile(band_low);
  return {low, quantile(band_high)};
}

double Uncertainty::share(const std::string& name) const {
  const auto found = std::ranges::find(deciders, name, &Decider::name);
  return found == deciders.end() ? 0 : found->share;
}

std::optional<Uncertainty> uncertainty(const Timing& timing, const RateSpread& spread,
                                       const Machine& machine) {
  const std::size_t links = timing.links.size();
  const std::size_t count = links + (machine.accounting.compute_roof ? 1 : 0);
  const auto name = [&](std::size_t i) {
    return i == links ? "compute" : machine.link(LevelId{static_cast<int>(i)});
  };
  Uncertainty u;
  const std::vector<double> shares = shares_of_deciding(timing, spread);
  for (std::size_t i = 0; i < count; ++i) {
    if (shares[i] > 0) u.deciders.push_back({name(i), shares[i]});
    if (!spread.known(i)) u.no_spread.push_back(name(i));
  }
  if (u.no_spread.size() == count) return {};
  std::ranges::stable_sort(u.deciders, std::ranges::greater{}, &Decider::share);
  u.low = time_quantile(timing, spread, band_low);
  u.high = time_quantile(timing, spread, band_high);
  return u;
}

std::string hundredths(double share) {
  const double percent = 100 * share;
  if (percent <= 100 * share_rounding) return "0";
  if (percent < 0.1) return "less than 0.1";
  if (percent > 99.9 && share < 1 - share_rounding) return "more than 99.9";
  return percent < 1 || (percent > 99 && share < 1 - share_rounding)
             ? fmt::format("{:.1f}", percent)
             : fmt::format("{:.0f}", percent);
}

std::string draws_words(double share) {
  if (share >= 1 - share_rounding) return "every draw of the measured rates";
  return hundredths(share) + " of 100 draws of the measured rates";
}

std::string sure_words(const std::string& bottleneck, const Uncertainty& u) {
  std::string text = bottleneck + " in " + draws_words(u.share(bottleneck));
  std::vector<const Decider*> others;
  for (const Decider& d : u.deciders) {
    if (d.name != bottleneck) others.push_back(&d);
  }
  for (const Decider* d : others) {
    text += fmt::format("{} {} in {}", d == others.front() ? ";" : ",", d->name,
                        others.size() == 1 ? "the others" : hundredths(d->share));
  }
  if (u.no_spread.empty()) return text;
  for (const std::string& name : u.no_spread) {
    text += (&name == &u.no_spread.front() ? "; " : ", ") + name;
  }
  return text + (u.no_spread.size() == 1 ? " is" : " are") + " taken as exact";
}

std::string time_band_words(const Uncertainty& u) {
  if (u.low == u.high) return to_display(u.low) + " in all of them";
  return fmt::format("{} to {} in 90 of 100", to_display(u.low), to_display(u.high));
}

}  // namespace tcsim
