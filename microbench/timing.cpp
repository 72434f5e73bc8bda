#include "microbench/timing.hpp"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "microbench/loops.hpp"

namespace tcsim {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t fewest = 3;
constexpr long clock_rounds = 2000;  // of add_chain: tens of microseconds

Seconds between(Clock::time_point begin, Clock::time_point end) {
  return Seconds(std::chrono::duration<double>(end - begin).count());
}

// How often the kernel took the processor from this thread.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// Time that this thread was at work, without what the kernel gave to others.
Seconds processor_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return Seconds(static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec));
}

// What one thread saw of one repetition; a line of its own, since the threads write at once.
struct alignas(64) Seen {
  Clock::time_point begin, end;
  Seconds at_work;
  Hertz clock;
  bool disturbed = false;
};

// Decides, between repetitions, what the next one is for.
class Course {
 public:
  Course(Work& work, const Effort& effort, std::stop_token stop)
      : work_(work), effort_(effort), stop_(std::move(stop)), calibrating_(work.units == 0) {
    if (calibrating_) work_.units = work_.grain;
  }

  // Whether there is a next repetition.
  bool next() const {
    if (stop_.stop_requested()) return false;
    const std::size_t good = undisturbed_.timed.units.size();
    return good < static_cast<std::size_t>(effort_.repetitions) &&
           (good + disturbed_ones_.timed.units.size() < fewest || spent_ < effort_.budget);
  }

  void take(const std::vector<Seen>& seen) {
    Clock::time_point begin = seen[0].begin, end = seen[0].end;
    Seconds at_work;
    disturbed_ = false;
    for (const Seen& s : seen) {
      begin = std::min(begin, s.begin);
      end = std::max(end, s.end);
      at_work = std::max(at_work, s.at_work);
      disturbed_ |= s.disturbed;
    }
    const Seconds time = between(begin, end);
    spent_ += time;
    if (calibrating_) return calibrate(disturbed_ ? at_work : time);
    if (warming_) {
      warming_ = false;
      return;
    }
    (disturbed_ ? disturbed_ones_ : undisturbed_)
        .add(disturbed_ ? at_work : time, work_.units, seen);
  }

  bool disturbed() const { return disturbed_; }

  // Where hardly a repetition was left alone, the others count with the time that their threads
  // were at work: without the waiting, but with caches that somebody else has used.
  Timed result() {
    Timed timed = std::move(undisturbed_.timed);
    timed.disturbed = static_cast<int>(disturbed_ones_.timed.units.size());
    if (timed.units.size() < fewest) {
      timed += disturbed_ones_.timed;
      timed.disturbed = 0;
    }
    return timed;
  }

 private:
  void calibrate(Seconds time) {
    const double factor = effort_.repetition / std::max(time, Seconds(1e-7));
    if (factor < 1.5) {
      calibrating_ = warming_ = false;
      return;
    }
    // Small steps: the first rounds are slow ones and say little of the rest.
    const double grains = static_cast<double>(work_.units / work_.grain) * std::min(factor, 16.0);
    work_.units = std::max(1L, std::lround(grains)) * work_.grain;
  }

  Work& work_;
  const Effort& effort_;
  std::stop_token stop_;
  bool calibrating_, warming_ = true, disturbed_ = false;
  Seconds spent_;
  struct Kind {
    Timed timed;

    void add(Seconds time, long units, const std::vector<Seen>& seen) {
      timed.units.push_back(time * (1.0 / static_cast<double>(units)));
      for (const Seen& s : seen) timed.clocks.push_back(s.clock);
    }
  };
  Kind undisturbed_, disturbed_ones_;
};

// `again`: somebody else used the caches, so part of the work is done once without being counted.
void repeat(int thread, const Work& work, bool again, Seen& seen, SpinBarrier& barrier) {
  constexpr long part = 8;
  if (work.refresh) work.refresh(thread);
  if (again) work.run(thread, std::max(1L, work.units / part / work.grain) * work.grain);
  const long before = preemptions();
  barrier.wait();
  const Seconds began = processor_time();
  seen.begin = Clock::now();
  work.run(thread, work.units);
  seen.end = Clock::now();
  seen.at_work = processor_time() - began;
  const auto chain_begin = Clock::now();
  add_chain(clock_rounds);
  const Seconds chain = between(chain_begin, Clock::now());
  seen.clock = Hertz(static_cast<double>(clock_rounds * add_chain_length) / chain.value());
  seen.disturbed = preemptions() != before;
}

}  // namespace

Timed& Timed::operator+=(const Timed& later) {
  units.insert(units.end(), later.units.begin(), later.units.end());
  clocks.insert(clocks.end(), later.clocks.begin(), later.clocks.end());
  disturbed += later.disturbed;
  return *this;
}

Hertz Timed::frequency() const {
  if (clocks.empty()) return Hertz(0);
  std::vector<double> values;
  for (Hertz h : clocks) values.push_back(h.value());
  return Hertz(median(std::move(values)));
}

Timed time_work(Team& team, int threads, Work& work, const Effort& effort,
                const std::stop_token& stop) {
  Course course(work, effort, stop);
  SpinBarrier barrier(threads);
  std::vector<Seen> seen(static_cast<std::size_t>(threads));
  bool go = true;
  team.run(threads, [&](int thread) {
    if (work.prepare) work.prepare(thread);
    for (;;) {
      if (thread == 0) {
        // Whoever was waiting for the processor has it now, and a fresh time slice begins after.
        if (course.disturbed()) std::this_thread::sleep_for(std::chrono::microseconds(500));
        go = course.next();
      }
      barrier.wait();
      if (!go) return;
      repeat(thread, work, course.disturbed(), seen[static_cast<std::size_t>(thread)], barrier);
      barrier.wait();
      if (thread == 0) course.take(seen);
    }
  });
  if (stop.stop_requested()) throw Interrupted();
  return course.result();
}

ClockQuality clock_quality() {
  constexpr int reads = 20000;
  Seconds smallest(1);
  const auto begin = Clock::now();
  auto last = begin;
  for (int i = 0; i < reads; ++i) {
    const auto now = Clock::now();
    if (now > last) smallest = std::min(smallest, between(last, now));
    last = now;
  }
  return {smallest, between(begin, last) * (1.0 / reads)};
}

}  // namespace tcsim
