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

bool hashes_all_bits(const LevelConfig& level) { return level.index.hashed && level.sets > 1; }

// What becomes of a slice's number where lines keep their numbers without the bits that name the
// class: the masks lose these bits, and what they contributed is the same for the whole class.
void shorten(LevelConfig& level, int region_bits, int class_bits, std::uint64_t number) {
  const std::uint64_t inside = (std::uint64_t{1} << region_bits) - 1;
  std::uint64_t flip = 0;
  for (std::size_t i = 0; i < level.index.masks.size(); ++i) {
    std::uint64_t& mask = level.index.masks[i];
    const auto parity = static_cast<unsigned>(__builtin_parityll(mask & (number << region_bits)));
    flip |= std::uint64_t{parity} << i;
    mask = (mask & inside) | mask >> (region_bits + class_bits) << region_bits;
  }
  level.slice_flip = flip;
}

// Throws if the caches cannot be divided into classes, or not so many be drawn.
void check_sample(const SystemConfig& config, std::int64_t classes) {
  const std::int64_t of = class_count(config);
  for (const auto& level : config.levels) {
    const std::string place = fmt::format("{}: {}", config.name, level.name);
    if (level.prefetch != Prefetch::none) {
      throw UnsupportedError(place,
                             "it prefetches lines of other sets, so that no part can be simulated",
                             "leave the prefetch or the sampling out");
    }
    if (level.victim_lines != 0) {
      throw UnsupportedError(place,
                             "its victim cache serves all sets, so that no part can be simulated",
                             "leave the sampling or the victim cache out");
    }
    if (hashes_all_bits(level)) {
      throw UnsupportedError(
          place, "its index hashes all bits of a line's number, so that no part can be simulated",
          "leave the sampling out, or use the index sliced-2, sliced-4 or sliced-8");
    }
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
  const bool mixes = std::ranges::any_of(config.levels, [](const LevelConfig& l) {
    return l.prefetch != Prefetch::none || l.victim_lines != 0;
  });
  return mixes ? 1 : class_count(config);
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
    SystemConfig of_number = part;
    for (auto& level : of_number.levels) shorten(level, region_bits_, class_bits_, number);
    systems_.push_back(std::make_unique<System<>>(of_number, std::vector{~std::uint64_t{0}}));
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
    const std::int64_t sets = level.sets_in_slice();
    if (sim::hashes_all_bits(level) || sets % lines != 0) return 1;
    common = std::gcd(common, sets / lines);
  }
  return common & -common;
}

}  // namespace tcsim
