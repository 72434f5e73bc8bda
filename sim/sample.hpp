// Simulation of a part of the sets, where all of them would take too long.
//
// Lines are dealt into R classes by the low bits of their number. R is the largest power of two
// that every number of sets allows, so lines of different classes never meet in a set. n of the
// classes are drawn with equal chance, without replacement, and simulated exactly. Totals are R
// times the mean. Of a sliced level the numbers of sets in a slice count (core/machine/
// set_index.hpp); a hashed one has no classes. Random choices of policies are drawn anew: even all
// classes give another sample of a random policy than simulate().
//
// The 95 % confidence interval is that of Student's t with n - 1 degrees of freedom and the
// correction for a finite population (Cochran, Sampling Techniques, 1977, section 2.7). That holds
// where classes scatter as a normal distribution does. Many do not: most agree to the line, and a
// few that have one more row of an array are far off. So the spread counts one class more that was
// not drawn, as far from the mean as the drawn ones are from each other, and one line at least; and
// fewer than 12 classes are no sample. It cannot know of classes unlike all that were drawn.
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
  Bytes core;                        // that the core loads and stores, exactly; of a plan
  std::int64_t classes = 0, of = 0;  // simulated, of so many
};

// Throws UnsupportedError for caches that cannot be, that prefetch, have a victim cache, or whose
// sets cannot be divided; UsageError if `classes` is less than least_classes() or more than
// R.
SampledSimulation sample(const Plan& plan, const sim::SystemConfig& config, std::int64_t classes,
                         const SimulationOptions& options = {});

// Of so many classes: 12, or all if there are fewer.
std::int64_t least_classes(std::int64_t of);

// The total of `all` classes, of which some were counted.
Estimate estimate_total(const std::vector<double>& counts, double all);

// R; 1 if the sets cannot be divided.
std::int64_t class_count(const sim::SystemConfig& config);

}  // namespace tcsim
