// tcsim bench tccg, hard and random, and what other suites share with them: the executor on every
// contraction of a suite against other libraries and against the machine. One core, and tcsim on
// several beside it; cold caches, or hot ones, for what a program calls again and again.
// Contestants take turns, so that what disturbs one disturbs the others.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/yardstick.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

struct Contestant {
  std::string name;  // "tcsim", "TTGT OpenBLAS"
  std::string how;   // the kernel; what is transposed
  Samples samples;
  double worst_error = 0;  // of its result, relative to the bound of check_result()
  int threads = 1;         // at most; times are the wall clock's where there are several
  bool correct() const { return worst_error <= 1; }
};

// The contestants of one contraction with the work of each, which is called once for a sample.
struct Entrants {
  const Contraction& contraction;
  double flops;  // of one execution
  std::vector<Contestant> contestants;
  std::vector<std::function<void()>> works;

  void add(std::string name, std::string how, std::function<void()> work);
};

struct SuiteCase {
  Contraction workload;
  Schedule schedule;
  std::vector<Contestant> contestants;  // tcsim, the peers, then tcsim on several threads, if it is
  std::string kind = {};                // of a suite that has kinds; "" otherwise
  std::optional<Seconds> expected = {};  // of tcsim on one core with cold caches

  const Contestant& tcsim() const { return contestants.front(); }
  const Contestant* best_peer() const;  // the fastest that is correct, or null
  // tcsim's rate over the best peer's, medians.
  std::optional<double> ratio() const;
  // tcsim's median time over the expected one.
  std::optional<double> off() const;
  // tcsim on several threads, or null, and its rate over that on one.
  const Contestant* on_threads() const;
  std::optional<double> speed_up() const;
  // The contestant of that name, if it is correct.
  const Contestant* peer(const std::string& name) const;
  bool correct() const;
};

struct SuiteOptions {
  int repetitions = 5;
  // A peer that is less than this share as fast as the fastest one the first time is not run again.
  double worth_repeating = 0.5;
  std::vector<std::string> libraries;  // that take part, words of bench/peers.hpp
  std::uint64_t seed = 1;
  bool hot = false;  // bench_case(): all are prepared once and called again and again
  std::function<void(double share)> progress;  // of one contraction
  std::stop_token stop;
};

// What stands around the first run of each contestant, by its number, and is not timed.
struct FirstRun {
  // Fills with NaN where its result goes: what the one before left must not pass for it.
  std::function<void(std::size_t)> clear;
  std::function<double(std::size_t)> worst_error;  // of its result, relative to the bound
};

// Adds the samples of all repetitions to the contestants, whose works are in the same order, and
// how wrong each is. Throws Interrupted between executions.
void race(SuiteCase& into, const std::vector<std::function<void()>>& works, const FirstRun& first,
          ColdYardstick& yardstick, const SuiteOptions& options);
// The same of `count` contestants that are measured in any way.
using MeasureOne = std::function<Sample(std::size_t contestant)>;
void race(SuiteCase& into, std::size_t count, const MeasureOne& measure, const FirstRun& first,
          const SuiteOptions& options);

// What runs on several threads beside that on one.
struct OnThreads {
  Schedule schedule;
  int threads = 2;  // at most
};

// Measures one contraction. Throws UnsupportedError if there is too little memory, and
// Interrupted between executions (and soon within tcsim's own).
SuiteCase bench_case(const Contraction& contraction, const Schedule& schedule,
                     ColdYardstick& yardstick, const SuiteOptions& options,
                     const std::optional<OnThreads>& several = {});

// Geometric mean of values added one by one.
class GeometricMean {
 public:
  void add(double x);
  int count() const { return count_; }
  std::optional<double> value() const;  // none without values

 private:
  double sum_ = 0;
  int count_ = 0;
};

// How long runs took, in times that were expected: in four cases of five between low and high.
struct Expectation {
  int cases = 0;
  double low = 0, median = 0, high = 0;
  int near = 0;  // cases no further off than near_expected
};
inline constexpr double near_expected = 0.15;
std::optional<Expectation> expectation(const std::vector<SuiteCase>& cases);

// Of all cases; an empty list has none.
struct SuiteSummary {
  double of_peak = 0, of_limit = 0;  // geometric means
  std::optional<double> ratio;       // of those cases that have a peer
  std::optional<double> best_peer_of_peak;
  int cases = 0;
  int slower = 0;                  // cases in which a peer was faster
  int slow = 0;                    // those with a ratio below slow_case
  std::optional<double> worst;     // the least ratio
  std::optional<double> speed_up;  // geometric mean of those that ran on several threads
};
// Below this ratio to the best peer a case counts as slow.
inline constexpr double slow_case = 0.9;
std::optional<SuiteSummary> summary(const std::vector<SuiteCase>& cases);

}  // namespace tcsim::bench
