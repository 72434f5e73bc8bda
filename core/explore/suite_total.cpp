#include "core/explore/suite_total.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/traffic.hpp"
#include "core/units/text.hpp"

namespace tcsim {

void SuiteTotal::add(const Contraction& contraction, const Machine& machine,
                     const Prediction& prediction) {
  const FlopsPerSecond peak = machine.peak(size_of(contraction.type()));
  rows.push_back({contraction.name(), contraction.flops(), prediction.timing.total,
                  bottleneck_name(prediction.timing, machine), prediction.rate / peak});
}

Seconds SuiteTotal::time() const {
  Seconds all;
  for (const Row& r : rows) all += r.time;
  return all;
}

FlopsPerSecond SuiteTotal::rate() const {
  double flops = 0;
  for (const Row& r : rows) flops += r.flops;
  return FlopsPerSecond(flops / time().value());
}

double SuiteTotal::of_peak() const {
  double sum = 0;
  for (const Row& r : rows) sum += std::log(r.of_peak);
  return std::exp(sum / static_cast<double>(rows.size()));
}

std::vector<std::pair<std::string, int>> SuiteTotal::bottlenecks() const {
  std::vector<std::pair<std::string, int>> all;
  for (const Row& r : rows) {
    const auto known = std::ranges::find(all, r.bottleneck, &std::pair<std::string, int>::first);
    if (known == all.end()) {
      all.emplace_back(r.bottleneck, 1);
    } else {
      ++known->second;
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &std::pair<std::string, int>::second);
  return all;
}

std::string total_words(const SuiteTotal& total) {
  std::string text =
      fmt::format("all {}: {}, {:.4g} GFLOPS, geometric mean {:.1f} % of the FMA peak; limited by",
                  total.rows.size(), to_display(total.time()), total.rate().value() / 1e9,
                  100 * total.of_peak());
  const char* between = " ";
  for (const auto& [name, times] : total.bottlenecks()) {
    text += fmt::format("{}{} in {}", between, name, times);
    between = ", ";
  }
  return text;
}

}  // namespace tcsim
