#include "microbench/plateau.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/statistics.hpp"

namespace tcsim {

namespace {

const double slope_cost = std::log2(1.05), same_rate = 1.08, skip_cost = 1.0;
constexpr double shortest = 0.75;  // octaves

double octaves(Bytes from, Bytes to) {
  return std::log2(static_cast<double>(to.value()) / static_cast<double>(from.value()));
}

// Median of the logarithms of the rates of [first, end), and the sum of the distances from it.
struct Fit {
  double level = 0, cost = 0;
};
Fit fit(const RateCurve& curve, std::size_t first, std::size_t end) {
  std::vector<double> logs;
  for (std::size_t i = first; i < end; ++i) logs.push_back(std::log2(curve[i].rate));
  Fit f;
  f.level = median(logs);
  for (double l : logs) f.cost += std::abs(l - f.level);
  return f;
}

// The cheapest division, by dynamic programming over where the last part of it begins.
std::vector<Plateau> divide(const RateCurve& curve) {
  const std::size_t n = curve.size();
  const double density =
      static_cast<double>(n - 1) / octaves(curve.front().working_set, curve.back().working_set);
  const double plateau_cost = shortest * density * slope_cost;
  constexpr std::size_t on_slope = std::numeric_limits<std::size_t>::max();
  std::vector<double> best(n + 1, 0);
  std::vector<std::size_t> from(n + 1, on_slope);
  for (std::size_t end = 1; end <= n; ++end) {
    best[end] = best[end - 1] + slope_cost;
    for (std::size_t first = 0; first + 2 <= end; ++first) {
      const double cost = best[first] + plateau_cost + fit(curve, first, end).cost;
      if (cost < best[end]) {
        best[end] = cost;
        from[end] = first;
      }
    }
  }
  std::vector<Plateau> plateaus;
  for (std::size_t end = n; end > 0;) {
    if (from[end] == on_slope) {
      --end;
    } else {
      plateaus.push_back({from[end], end, std::exp2(fit(curve, from[end], end).level)});
      end = from[end];
    }
  }
  std::reverse(plateaus.begin(), plateaus.end());
  return plateaus;
}

Bytes crossing(const RateCurve& curve, const Plateau& inner, const Plateau& outer) {
  const double middle = std::sqrt(inner.rate * outer.rate);
  // From the outer end inward: the last point that is still as fast as the middle.
  for (std::size_t i = outer.first; i > inner.first; --i) {
    const RatePoint& a = curve[i - 1];
    const RatePoint& b = curve[i];
    if (a.rate < middle) continue;
    double share = std::log(a.rate / middle) / std::log(a.rate / b.rate);
    if (!(share >= 0 && share <= 1)) share = 0.5;
    const double log = std::log2(static_cast<double>(a.working_set.value())) +
                       share * octaves(a.working_set, b.working_set);
    return Bytes(std::llround(std::exp2(log)));
  }
  return curve[inner.end - 1].working_set;
}

}  // namespace

std::vector<Plateau> find_plateaus(const RateCurve& curve) {
  if (curve.size() < 2) return {};
  std::vector<Plateau> joined;
  for (const Plateau& p : divide(curve)) {
    if (joined.empty() || p.rate * same_rate < joined.back().rate) {
      joined.push_back(p);
      continue;
    }
    Plateau& last = joined.back();
    last.end = p.end;
    last.rate = std::exp2(fit(curve, last.first, last.end).level);
  }
  return joined;
}

std::vector<RateStep> find_steps(const RateCurve& curve) {
  const std::vector<Plateau> plateaus = find_plateaus(curve);
  std::vector<RateStep> steps;
  for (std::size_t i = 1; i < plateaus.size(); ++i) {
    const Plateau &inner = plateaus[i - 1], &outer = plateaus[i];
    steps.push_back({crossing(curve, inner, outer), inner.rate / outer.rate});
  }
  return steps;
}

std::vector<std::optional<std::size_t>> match_steps(const std::vector<Bytes>& capacities,
                                                    const std::vector<RateStep>& steps) {
  const std::size_t n = capacities.size(), m = steps.size();
  // cost[i][j]: of the first i capacities and the first j steps.
  std::vector<std::vector<double>> cost(n + 1, std::vector<double>(m + 1, 0));
  const auto distance = [&](std::size_t i, std::size_t j) {
    return std::abs(octaves(capacities[i], steps[j].at));
  };
  for (std::size_t i = 0; i <= n; ++i) {
    for (std::size_t j = 0; j <= m; ++j) {
      if (i == 0 && j == 0) continue;
      double least = std::numeric_limits<double>::infinity();
      if (i > 0) least = std::min(least, cost[i - 1][j] + skip_cost);
      if (j > 0) least = std::min(least, cost[i][j - 1] + skip_cost);
      if (i > 0 && j > 0) least = std::min(least, cost[i - 1][j - 1] + distance(i - 1, j - 1));
      cost[i][j] = least;
    }
  }
  std::vector<std::optional<std::size_t>> matched(n);
  for (std::size_t i = n, j = m; i > 0 && j > 0;) {
    if (cost[i][j] == cost[i - 1][j - 1] + distance(i - 1, j - 1)) {
      matched[--i] = --j;
    } else if (cost[i][j] == cost[i - 1][j] + skip_cost) {
      --i;
    } else {
      --j;
    }
  }
  return matched;
}

}  // namespace tcsim
