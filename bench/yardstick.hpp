// What the machine allows, measured beside whatever is timed: on a shared machine speed comes and
// goes within seconds, so that a share of a peak measured at another time means little. Times are
// of the thread's own processor time, since a wall clock would count what other programs took; only
// what runs on several threads is timed by the wall clock.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/model/traffic.hpp"
#include "core/units/quantity.hpp"
#include "core/workload/contraction.hpp"
#include "microbench/memory.hpp"

namespace tcsim::bench {

// Processor time of this thread that `work` takes. Above zero: where the host of a virtual machine
// takes its processor away, that clock may stand still for a while, and then the wall's clock
// counts.
Seconds time_of(const std::function<void()>& work);

// Multiply-adds on registers with the widest vectors, one thread, now: a millisecond's work.
FlopsPerSecond measured_peak(ElementType type);

// One timed piece of work with what was measured around it.
struct Sample {
  Seconds time;
  FlopsPerSecond peak;         // of all its threads: the better of before and after
  BytesPerSecond bandwidth{};  // of memory, before, both ways; 0 with hot caches
  BytesPerSecond loads{};      // the same of loads alone
};

// Samples of one contestant, and what they say of it.
class Samples {
 public:
  // `flops` and the bytes that must move of one execution.
  Samples(double flops, const Moved& compulsory) : flops_(flops), compulsory_(compulsory) {}
  void add(const Sample& sample) { all_.push_back(sample); }
  bool empty() const { return all_.empty(); }
  std::size_t count() const { return all_.size(); }

  // Medians over the samples.
  FlopsPerSecond rate() const;
  double of_peak() const;   // share of the peak
  double of_limit() const;  // share of limit(), which is no time that can be had
  FlopsPerSecond peak() const;
  BytesPerSecond bandwidth() const;
  double spread() const;  // interquartile range over median, of the rates as shares of the peak
  Seconds time() const;

 private:
  double rate_of(const Sample& s) const { return flops_ / s.time.value(); }
  // The larger of computing at the peak and moving the compulsory bytes at memory's bandwidth,
  // those that only come in at that of loads.
  double limit(const Sample& s) const;
  template <class F>
  double median_of(F&& f) const;

  double flops_;
  Moved compulsory_;
  std::vector<Sample> all_;
};

// A and B read, C read and written, each once.
Moved compulsory_traffic(const Contraction& contraction);

// What a ColdYardstick streams through at most. Tests of what is printed take less.
inline Bytes most_streamed{std::int64_t{1} << 30};

// Times work with cold caches: what the measurement of the bandwidth leaves in them is of no use,
// and need not be written back.
class ColdYardstick {
 public:
  ColdYardstick();
  Sample operator()(ElementType type, const std::function<void()>& work, int threads = 1);

 private:
  Block block_;  // larger than the caches together
};

// With caches as hot as calls one after the other leave them: the time of one of as many calls as
// take about `at_least`.
class HotYardstick {
 public:
  HotYardstick(ElementType type, std::function<void()> work, Seconds at_least, int threads = 1);
  Sample operator()();

 private:
  Seconds calls() const;

  ElementType type_;
  std::function<void()> work_;
  int threads_;
  long calls_ = 1;
};

}  // namespace tcsim::bench
