// What would help, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/curve.hpp"
#include "core/explore/elasticity.hpp"

namespace tcsim {

// The knobs that gain the most time for their size: several if they gain the same, none if no knob
// gains.
std::vector<const Elasticity*> strongest(const Elasticities& elasticities);

// Where the first of the strongest knobs that does so moves the bottleneck, within 16 times (or a
// 16th of) what the machine has. Empty if none does.
std::optional<Crossover> next_crossover(const Contraction& contraction, const Machine& machine,
                                        const Elasticities& elasticities,
                                        const ExploreOptions& options = {});

// What a much larger cache brings: four times its capacity, or as much as the one outside it has.
struct LargerCache {
  std::string level;
  double factor = 1;
  Seconds time;
  std::optional<double> gains = {};  // as KnobStep::gains
};
std::vector<LargerCache> larger_caches(const Contraction& contraction, const Machine& machine,
                                       const Elasticities& elasticities,
                                       const ExploreOptions& options = {});

// "memory.bandwidth" as "memory bandwidth", "caches.line" as "line size".
std::string knob_words(const Knob& knob);

// "+21 %" or "-5 %" for 1.21 and 0.95, with a digit more below 10 %; "3.2 times" from twice on.
std::string change_words(double factor);

// Where a crossover lies in the draws, as changes of a knob that is `base` by the figures:
// "+14.2 % to +26.0 % in 90 of 100 draws".
std::string band_words(const CrossoverBand& band, double base);

// "+1.0 % memory bandwidth brings +1.0 % GFLOPS; +19.7 % moves the bottleneck to L1-register. A
// larger L1, L2 or L3 changes nothing (tried to 4 times)." With what the compute roof does. Where
// rates have a spread, a gain that fewer than 95 % of the draws have is said with their share, and
// one that at most 5 % have is none.
std::string help_words(const Machine& machine, const Elasticities& elasticities,
                       const std::optional<Crossover>& next,
                       const std::vector<LargerCache>& caches);

// How a predicted rate stands to the FMA peak for elements of that size, without a full stop; where
// the accounting leaves computing out it may be above it, and that is explained.
std::string rate_words(const Machine& machine, const Prediction& prediction, Bytes element);

// What the compute roof does to this prediction; empty where the accounting has none.
std::string roof_words(const Machine& machine, const Choice& choice);

}  // namespace tcsim
