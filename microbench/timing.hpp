// Timing that can be believed. Naive timing lies in six ways, and each has its remedy here: the
// thread moves between processors (pinned, microbench/team.hpp); the clock is coarser than what is
// timed (a repetition takes a millisecond); the first round pays for cold caches, page
// faults and a sleeping clock (never counted); other work interferes (repetitions that the kernel
// interrupted are left out and the caches filled anew after them, the median of the rest counts,
// and repetitions are spread over the whole run, so that a slow drift shows as spread); the
// processor changes its clock under load (the frequency is measured right after each repetition);
// and the compiler removes work whose result nobody uses (microbench/loops_body.hpp).
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "core/units/quantity.hpp"
#include "microbench/team.hpp"

namespace tcsim {

struct Effort {
  int repetitions = 5;        // undisturbed ones that are wanted
  Seconds repetition{0.001};  // shorter than a time slice, so that some pass undisturbed
  Seconds budget{0.2};        // after which what there is must do
};

// What is timed: run(thread, units) does `units` units on one thread; the same number on each.
struct Work {
  std::function<void(int thread, long units)> run;
  std::function<void(int thread)> prepare;  // fills the caches before the first repetition; or none
  std::function<void(int thread)> refresh;  // the same before every repetition; or none
  long grain = 1;                           // units come in multiples of it
  long units = 0;  // of one repetition; 0: not known yet, and found by the first timing
};

struct Timed {
  std::vector<Seconds> units;  // of each repetition: seconds that one unit takes
  std::vector<Hertz> clocks;   // of each repetition and thread
  int disturbed = 0;           // repetitions left out since the kernel interrupted them

  Timed& operator+=(const Timed& later);
  Hertz frequency() const;  // median of the clocks; 0 if there is none
};

// Times `work` on the first `threads` of the team, which begin each repetition together; it lasts
// until the last of them is done. If hardly any repetition was undisturbed, all of them count, the
// disturbed ones with the time that the slowest thread was at work.
// Throws Interrupted between repetitions if asked to stop.
Timed time_work(Team& team, int threads, Work& work, const Effort& effort,
                const std::stop_token& stop);

// The smallest step that the clock was seen to make, and what reading it costs.
struct ClockQuality {
  Seconds resolution, cost;
};
ClockQuality clock_quality();

}  // namespace tcsim
