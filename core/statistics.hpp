// Order statistics of repetitions: the median is what a measurement says, the interquartile range
// over it is how far to believe it. A few disturbed repetitions move neither.
#pragma once

#include <vector>

namespace tcsim {

// The value below which the share `q` in [0, 1] of the values lies, between two of them by linear
// interpolation (Hyndman and Fan 1996, definition 7); `values` is not empty.
double quantile(std::vector<double> values, double q);

inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

// Interquartile range over median; 0 for a single value.
double relative_spread(const std::vector<double>& values);

// Spread beyond which a figure is called unstable.
inline constexpr double unstable_spread = 0.10;

}  // namespace tcsim
