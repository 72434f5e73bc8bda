// How sure a prediction is, as far as the machine's measurements can tell.
//
// The question is which link limits a run on this machine, so a draw is a run: the state that the
// machine may be in while it lasts. It takes one repetition of the measurement of each link, and
// one of the FMA peak, each as likely as the others of its measurement. (Medians of repetitions
// that are drawn anew would answer another question, how well the median is known. That becomes
// sure with enough repetitions, however much the machine varies from run to run.) Which repetitions
// of two links belong together is not known, so links are drawn independently of one another; where
// they slow down together, the bottleneck is surer than what is said here.
//
// The schedule and its traffic are those for the figures, so a draw changes nothing but the time of
// each link: bytes over the bandwidth drawn. All draws that there are, every repetition of a link
// with every one of the others, are counted in closed form: the link i decides in a draw of its
// time t with the probability that no other takes longer, the product of their distributions at t.
// There are no random numbers, and a share is exact.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/machine/spread.hpp"
#include "core/model/traffic.hpp"

namespace tcsim {

// A band reaches from where 5 % of the draws lie below it to where 5 % lie above it.
inline constexpr double band_low = 0.05, band_high = 0.95;

// The share of the draws in which each link decides, computing last. They add up to 1. Of links
// that take equally long the innermost decides, as in Timing.
std::vector<double> shares_of_deciding(const Timing& timing, const RateSpread& spread);

// The least time that at least the share `q` of the draws does not exceed.
Seconds time_quantile(const Timing& timing, const RateSpread& spread, double q);

// The share of the draws in which `after` takes less than (1 - by) of what `before` takes, both
// with the same draw: what slows one link slows it in both.
double share_of_gaining(const Timing& before, const Timing& after, const RateSpread& spread,
                        double by);

// A gain of less than this share of the time is none. Source: chosen.
inline constexpr double no_gain_below = 1e-3;

// Whether a gain in so many draws is one that the measurement can see, and one that it cannot tell
// from none.
bool is_seen(double share);
bool is_unseen(double share);

// The band of the ratio of two that are drawn.
std::pair<double, double> ratio_band(const TimeFactors& above, const TimeFactors& below);

struct Decider {
  std::string name;  // a link, or "compute"
  double share = 0;  // of the draws
};

struct Uncertainty {
  std::vector<Decider> deciders;       // those with a share, the largest first
  Seconds low, high;                   // the band of the time
  std::vector<std::string> no_spread;  // links, and "compute" where it counts, without a spread

  double share(const std::string& name) const;  // 0 for one that never decides
};

// Empty where no rate of the machine has a spread: then nothing can be said.
std::optional<Uncertainty> uncertainty(const Timing& timing, const RateSpread& spread,
                                       const Machine& machine);

// "93 of 100 draws of the measured rates"; "every draw of the measured rates".
std::string draws_words(double share);
// "93" of 100, with a digit more near none and all.
std::string hundredths(double share);

// "L3-memory in 93 of 100 draws of the measured rates; L1-register in the others", and which are
// "taken as exact", since they have no spread.
std::string sure_words(const std::string& bottleneck, const Uncertainty& uncertainty);

// "41.2 ms to 43.5 ms in 90 of 100".
std::string time_band_words(const Uncertainty& uncertainty);

// What is said where no rate has a spread.
inline constexpr const char* no_spread_words =
    "not known: no rate of this machine has measured repetitions";

}  // namespace tcsim
