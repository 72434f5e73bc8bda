#include "core/model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tcsim {

namespace {

constexpr int max_ways = 64;
// Source of these four: chosen.
// More trials than the first, each of less chance than the second, are taken as Poisson's.
constexpr double many_trials = 16;
constexpr double small_share = 0.25;
// Trials that are told apart: so many for each way, and so many on top.
constexpr int enough_per_way = 4;
constexpr int enough_trials = 32;

// How a window's part falls on the sets: `count` runs, each `whole` lines in every set and one line
// more in a `share` of the sets.
struct SetRuns {
  SetRuns(const WindowPart& part, double sets) {
    const double run = std::clamp(part.run, 1.0, std::max(1.0, part.lines));
    count = std::max(1.0, part.lines / run);
    whole = std::floor(run / sets);
    share = run / sets - whole;
    if (part.lines < 1) share *= part.lines;
  }
  double count, whole, share;
};

// Distribution of how many lines fall into one set, for 0 to ways - 1 of them; what is missing from
// one is the chance of more.
class Occupancy {
 public:
  explicit Occupancy(std::int64_t ways) : ways_(static_cast<std::size_t>(ways)) { p_[0] = 1; }

  void shift(double lines) {
    const auto n = static_cast<std::size_t>(std::min<double>(lines, static_cast<double>(ways_)));
    if (n == 0) return;
    std::copy_backward(p_.begin(), p_.begin() + static_cast<std::ptrdiff_t>(ways_ - n),
                       p_.begin() + static_cast<std::ptrdiff_t>(ways_));
    std::fill_n(p_.begin(), n, 0.0);
  }

  // One more line with probability q.
  void trial(double q) {
    for (std::size_t i = ways_; i-- > 1;) p_[i] += q * (p_[i - 1] - p_[i]);
    p_[0] -= q * p_[0];
  }

  // Poisson with the given mean: many runs, each unlikely to hit the set.
  void poisson(double mean) {
    Shares q;
    double term = std::exp(-mean);
    for (std::size_t i = 0; i < ways_; ++i) {
      q[i] = term;
      term *= mean / static_cast<double>(i + 1);
    }
    convolve(q);
  }

  // A part in runs that begin anywhere. Seen from one of its own lines, the run that holds it is
  // there for certain, and counts without the line itself.
  void runs(const WindowPart& part, double sets) {
    SetRuns r(part, sets);
    if (part.own) {
      const double run = std::min(part.lines + 1, std::max(1.0, part.run));
      const double in_set = run / sets, whole = std::floor(in_set), share = in_set - whole;
      if (whole >= 1) {
        // Sets that hold more of the run's lines are likelier to be the line's own.
        shift(whole - 1);
        trial(share * (whole + 1) / in_set);
      }
      r.count = (part.lines + 1) / run - 1;
      if (r.count <= 0) return;
    }
    shift(std::round(r.count * r.whole));
    if (r.count > many_trials && r.share < small_share) {
      poisson(r.count * r.share);
      return;
    }
    // More trials than this fill the set all the same, unless the share is tiny: Poisson.
    double left = std::min(r.count, static_cast<double>(enough_per_way * ways_ + enough_trials));
    const double scale = r.count / left;
    for (; left >= 1; left -= 1) trial(std::min(1.0, r.share * scale));
    if (left > 0) trial(std::min(1.0, r.share * left * scale));
  }

  // A part with counted sets: the tile's distribution, scaled to the part's number of lines as
  // evenly as whole lines allow. Seen from one of its own lines, sets weigh by what they hold.
  void counted(const WindowPart& part) {
    const double scale = part.lines / part.counts->lines;
    Shares q{};
    double weight = 0;
    const auto put = [&](double lines, double w) {
      if (lines < static_cast<double>(ways_)) q[static_cast<std::size_t>(lines)] += w;
    };
    const auto& share = part.counts->share;
    for (std::size_t c = part.own ? 1 : 0; c < share.size(); ++c) {
      if (share[c] <= 0) continue;
      const double w = part.own ? part.counts->held(c) : share[c];
      weight += w;
      const double others = scale * static_cast<double>(part.own ? c - 1 : c);
      const double below = std::floor(others);
      put(below, w * (1 - (others - below)));
      put(below + 1, w * (others - below));
    }
    if (weight <= 0) return;
    for (std::size_t i = 0; i < ways_; ++i) q[i] /= weight;
    convolve(q);
  }

  // Chance of `ways` lines or more.
  double full() const {
    double below = 0;
    for (std::size_t i = 0; i < ways_; ++i) below += p_[i];
    return below > 1 - 1e-12 ? 0 : 1 - below;
  }

 private:
  using Shares = std::array<double, max_ways>;

  void convolve(const Shares& q) {
    Shares sum;
    std::fill_n(sum.begin(), ways_, 0.0);
    for (std::size_t i = 0; i < ways_; ++i) {
      if (p_[i] == 0) continue;
      for (std::size_t j = 0; j < ways_ - i; ++j) sum[i + j] += p_[i] * q[j];
    }
    std::copy_n(sum.begin(), ways_, p_.begin());
  }

  std::size_t ways_;
  Shares p_{};
};

}  // namespace

double miss_probability(const SetAssociative& cache, std::span<const WindowPart> parts) {
  double total = 0;
  for (const WindowPart& p : parts) total += p.lines;
  if (cache.sets == 1 || cache.ways > max_ways) return total + 1 > cache.lines() ? 1 : 0;

  // Too few lines to fill a set, or far from the limit on either side (5 standard deviations).
  const auto ways = static_cast<double>(cache.ways);
  if (total < ways) return 0;
  if (total > 3 * cache.lines()) return 1;
  bool counted = false;
  double variance = 0, least = 0, most = 0;
  for (const WindowPart& p : parts) {
    if (p.lines <= 0) continue;
    if (p.counts != nullptr) {
      const double scale = p.lines / p.counts->lines;
      counted = true;
      least += std::floor(scale * std::max(0, p.counts->least - (p.own ? 1 : 0)));
      most += std::ceil(scale * p.counts->most);
      continue;
    }
    const SetRuns r(p, cache.sets);
    variance += r.count * r.share * (1 - r.share);
    least += std::floor(r.count) * r.whole - (p.own ? 1 : 0);
    most += std::ceil(r.count) * (r.whole + 1);
  }
  if (most < ways) return 0;
  if (least >= ways) return 1;
  const double mean = total / cache.sets, spread = 5 * std::sqrt(variance);
  if (!counted && mean + spread + 1 < ways) return 0;
  if (!counted && mean - spread >= ways + 1) return 1;

  Occupancy occupancy(cache.ways);
  for (const WindowPart& p : parts) {
    if (p.lines <= 0) continue;
    if (p.counts != nullptr) {
      occupancy.counted(p);
    } else {
      occupancy.runs(p, cache.sets);
    }
  }
  return occupancy.full();
}

}  // namespace tcsim
