#include "sim/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "core/error.hpp"
#include "core/plan/walk.hpp"
#include "sim/general.hpp"

namespace tcsim {

namespace {

using sim::System;

// The longest line: a class consists of whole ones.
std::int64_t region_of(const sim::SystemConfig& config) {
  std::int64_t longest = 1;
  for (const auto& level : config.levels) longest = std::max(longest, level.line.value());
  return longest;
}

// A class has 1/R of every level's sets; its lines are numbered without the bits that name it.
class Classes {
 public:
  Classes(const sim::SystemConfig& config, std::int64_t count, std::int64_t of)
      : region_bits_(std::countr_zero(static_cast<std::uint64_t>(region_of(config)))),
        class_bits_(std::countr_zero(static_cast<std::uint64_t>(of))),
        of_class_(static_cast<std::size_t>(of)) {
    sim::SystemConfig part = config;
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

  void access(std::uint64_t address, std::uint64_t bytes, bool write) {
    const std::uint64_t region = std::uint64_t{1} << region_bits_;
    for (const std::uint64_t end = address + bytes; address < end;) {
      const std::uint64_t next = std::min(end, (address | (region - 1)) + 1);
      const std::uint64_t number = address >> region_bits_;
      if (System<>* system = of_class_[number & (of_class_.size() - 1)]) {
        const std::uint64_t inside = address & (region - 1);
        system->access(0, ((number >> class_bits_) << region_bits_) | inside, next - address,
                       write);
      }
      address = next;
    }
  }
  void drain() {
    for (auto& system : systems_) system->drain();
  }
  const std::vector<std::unique_ptr<System<>>>& systems() const { return systems_; }

 private:
  int region_bits_, class_bits_;
  std::vector<std::unique_ptr<System<>>> systems_;
  std::vector<System<>*> of_class_;
};

// A sink of sim/plan_visitor.hpp, with the rules of sim::SystemSink.
class SampleSink {
 public:
  SampleSink(Classes& classes, const sim::LevelConfig& innermost, std::int64_t element)
      : classes_(classes),
        line_bits_(std::countr_zero(static_cast<std::uint64_t>(innermost.line.value()))),
        element_(sim::counts_every_element(innermost) ? element : 0) {}
  void enter(Phase) {}
  void begin_row() { previous_ = ~std::uint64_t{0}; }
  template <bool write>
  void touch(ArrayId, std::uint64_t address, std::int64_t bytes) {
    const std::uint64_t end = address + static_cast<std::uint64_t>(bytes);
    if (element_ > 0) {
      for (; address < end; address += element_) classes_.access(address, element_, write);
      return;
    }
    const std::uint64_t first = address >> line_bits_;
    if (first == previous_) address = (first + 1) << line_bits_;
    previous_ = (end - 1) >> line_bits_;
    if (address < end) classes_.access(address, end - address, write);
  }
  void read(const sim::TwoStreams& s) {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(s.steps); ++i) {
      begin_row();
      touch<false>(s.left_array, s.left + i * s.left_bytes, s.left_bytes);
      begin_row();
      touch<false>(s.right_array, s.right + i * s.right_bytes, s.right_bytes);
    }
  }

 private:
  Classes& classes_;
  int line_bits_;
  std::uint64_t element_;
  std::uint64_t previous_ = ~std::uint64_t{0};
};

Estimate estimate(const std::vector<double>& counts, double all) {
  const auto n = static_cast<double>(counts.size());
  const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / n;
  double squares = 0;
  for (double c : counts) squares += (c - mean) * (c - mean);
  const double deviation = std::sqrt(squares / (n - 1) / n * (1 - n / all));
  const double t = quantile(boost::math::students_t(n - 1), 0.975);
  return {all * mean, all * t * deviation};
}

template <class Count>
Estimate estimate(const Classes& classes, std::int64_t of, int level, Count&& count) {
  std::vector<double> counts;
  for (const auto& system : classes.systems()) {
    counts.push_back(static_cast<double>(count(system->events(level))));
  }
  return estimate(counts, static_cast<double>(of));
}

}  // namespace

std::int64_t class_count(const sim::SystemConfig& config) {
  const std::int64_t region = region_of(config);
  std::int64_t common = 0;
  for (const auto& level : config.levels) {
    const std::int64_t lines = region / level.line.value();  // of the level in a region
    if (level.sets % lines != 0) return 1;
    common = std::gcd(common, level.sets / lines);
  }
  return common & -common;
}

SampledSimulation sample(const Plan& plan, const sim::SystemConfig& config, std::int64_t classes,
                         const SimulationOptions& options) {
  sim::check(plan, config);
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
  if (classes < 2 || classes > of) {
    throw UsageError("sample", fmt::format("{} of {} classes of sets", classes, of),
                     fmt::format("give 2 to {}", of));
  }
  Classes sampled(config, classes, of);
  SampleSink sink(sampled, config.levels.front(), plan.element().value());
  sim::PlanVisitor<SampleSink> visitor(plan, sink);
  sim::Watch watch(options, plan.contraction().flops() / 2, true);
  walk(plan, sim::Watched(visitor, watch));
  if (config.drain) sampled.drain();
  watch.finish();
  SampledSimulation result;
  result.classes = classes;
  result.of = of;
  for (int l = 0; l < static_cast<int>(config.levels.size()); ++l) {
    const auto of_level = [&](auto&& count) { return estimate(sampled, of, l, count); };
    result.levels.push_back(
        {of_level([](const sim::LevelEvents& e) { return e.misses; }),
         of_level([](const sim::LevelEvents& e) { return e.write_backs; }),
         of_level([](const sim::LevelEvents& e) { return (e.bytes_in + e.bytes_out).value(); })});
  }
  return result;
}

}  // namespace tcsim
