#include "sim/sampled_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "core/error.hpp"

namespace tcsim {

namespace sim {

namespace {

// Throws if the caches cannot be divided into classes, or not so many be drawn.
void check_sample(const SystemConfig& config, std::int64_t classes) {
  const std::int64_t of = class_count(config);
  for (const auto& level : config.levels) {
    if (level.prefetch == Prefetch::none) continue;
    throw UnsupportedError(fmt::format("{}: {}", config.name, level.name),
                           "it prefetches lines of other sets, so that no part can be simulated",
                           "leave the prefetch or the sampling out");
  }
  if (of < 2) {
    throw UnsupportedError(config.name, "its sets cannot be divided into classes",
                           "leave the sampling out, or use even numbers of sets");
  }
  if (classes < least_classes(of) || classes > of) {
    throw UsageError("sample", fmt::format("{} of {} classes of sets", classes, of),
                     least_classes(of) == of ? fmt::format("give {}, which is all of them", of)
                                             : fmt::format("give {} to {}", least_classes(of), of));
  }
}

}  // namespace

int region_bits_of(const SystemConfig& config) {
  std::int64_t longest = 1;
  for (const auto& level : config.levels) longest = std::max(longest, level.line.value());
  return std::countr_zero(static_cast<std::uint64_t>(longest));
}

std::int64_t independent_classes(const SystemConfig& config) {
  const bool prefetches = std::ranges::any_of(
      config.levels, [](const LevelConfig& l) { return l.prefetch != Prefetch::none; });
  return prefetches ? 1 : class_count(config);
}

SampledClasses::SampledClasses(const SystemConfig& config, std::int64_t count)
    : region_bits_(region_bits_of(config)) {
  check_sample(config, count);
  const std::int64_t of = class_count(config);
  class_bits_ = std::countr_zero(static_cast<std::uint64_t>(of));
  of_class_.resize(static_cast<std::size_t>(of));
  SystemConfig part = config;
  for (auto& level : part.levels) level.sets /= of;
  std::vector<std::size_t> numbers(of_class_.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::vector<std::size_t> drawn;
  std::mt19937_64 random(config.seed);
  std::ranges::sample(numbers, std::back_inserter(drawn), count, random);
  for (std::size_t number : drawn) {
    part.seed = config.seed + 0x10000 * (number + 1);
    systems_.push_back(std::make_unique<System<>>(part, std::vector{~std::uint64_t{0}}));
    of_class_[number] = systems_.back().get();
  }
}

SampledSimulation SampledClasses::estimates() const {
  SampledSimulation result;
  result.classes = static_cast<std::int64_t>(systems_.size());
  result.of = static_cast<std::int64_t>(of_class_.size());
  for (int l = 0; l < systems_.front()->level_count(); ++l) {
    const auto of_level = [&](auto&& count) {
      std::vector<double> counts;
      for (const auto& system : systems_) {
        counts.push_back(static_cast<double>(count(system->events(l))));
      }
      return estimate_total(counts, static_cast<double>(result.of));
    };
    result.levels.push_back(
        {of_level([](const LevelEvents& e) { return e.misses; }),
         of_level([](const LevelEvents& e) { return e.write_backs; }),
         of_level([](const LevelEvents& e) { return (e.bytes_in + e.bytes_out).value(); })});
  }
  return result;
}

}  // namespace sim

std::int64_t least_classes(std::int64_t of) { return std::min<std::int64_t>(12, of); }

Estimate estimate_total(const std::vector<double>& counts, double all) {
  const auto n = static_cast<double>(counts.size());
  const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / n;
  const auto [least, most] = std::ranges::minmax(counts);
  const double unseen = std::max(most - least, 1.0);
  double squares = unseen * unseen;
  for (double c : counts) squares += (c - mean) * (c - mean);
  const double deviation = std::sqrt(squares / (n - 1) / n * (1 - n / all));
  const double t = quantile(boost::math::students_t(n - 1), 0.975);
  return {all * mean, all * t * deviation};
}

std::int64_t class_count(const sim::SystemConfig& config) {
  const std::int64_t region = std::int64_t{1} << sim::region_bits_of(config);
  std::int64_t common = 0;
  for (const auto& level : config.levels) {
    const std::int64_t lines = region / level.line.value();  // of the level in a region
    if (level.sets % lines != 0) return 1;
    common = std::gcd(common, level.sets / lines);
  }
  return common & -common;
}

}  // namespace tcsim
