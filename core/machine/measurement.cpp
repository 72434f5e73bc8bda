#include "core/machine/measurement.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace tcsim {

namespace {

// The value below which a share `q` lies, between two of them by linear interpolation (Hyndman and
// Fan 1996, definition 7).
template <class Rate>
double quantile(std::vector<Rate> values, double q) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, values.size() - 1);
  const double low = values[below].value(), high = values[above].value();
  return low + (at - static_cast<double>(below)) * (high - low);
}

template <class Rate>
double relative_spread(const std::vector<Rate>& values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / quantile(values, 0.5);
}

}  // namespace

BytesPerSecond BandwidthSeries::median() const {
  return BytesPerSecond(quantile(repetitions, 0.5));
}
double BandwidthSeries::spread() const { return relative_spread(repetitions); }

FlopsPerSecond PeakSeries::median() const { return FlopsPerSecond(quantile(repetitions, 0.5)); }
double PeakSeries::spread() const { return relative_spread(repetitions); }

const char* to_text(AccessMix m) {
  switch (m) {
    case AccessMix::load_fma_store:
      return "load-fma-store";
    case AccessMix::load:
      return "load";
    case AccessMix::copy:
      return "copy";
    case AccessMix::triad:
      return "triad";
  }
  return "";
}

}  // namespace tcsim
