// Simulation of a part of the sets, where all of them would take too long.
//
// Lines are dealt into R classes by the low bits of their number. R is the largest power of two
// that every number of sets allows, so lines of different classes never meet in a set. n of the
// classes are drawn with equal chance, without replacement, and simulated exactly. Totals are R
// times the mean. Their 95 % confidence interval comes from the spread between classes, by
// Student's t with n - 1 degrees of freedom and the correction for a finite population (Cochran,
// Sampling Techniques, 1977, section 2.7). Random choices of policies are drawn anew: even all
// classes give another sample of a random policy than simulate().
#pragma once

#include <vector>

#include "sim/simulate.hpp"

namespace tcsim {

// A total in lines, and how far it may be off at 95 % confidence; 0 if all classes were simulated.
struct Estimate {
  double value = 0, error = 0;
};

struct LevelEstimates {
  Estimate misses, write_backs;
  Estimate bytes;  // over the link outside the level, in and out, in bytes
};

struct SampledSimulation {
  std::vector<LevelEstimates> levels;
  std::int64_t classes = 0, of = 0;  // simulated, of so many
};

// Throws UnsupportedError for caches that cannot be, that prefetch, or whose sets cannot be
// divided; UsageError if `classes` is not 2 to R.
SampledSimulation sample(const Plan& plan, const sim::SystemConfig& config, std::int64_t classes,
                         const SimulationOptions& options = {});

// R; 1 if the sets cannot be divided.
std::int64_t class_count(const sim::SystemConfig& config);

}  // namespace tcsim
