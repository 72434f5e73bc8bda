// Chooses a schedule by running some. What is predicted of schedules that run says which few are
// good, not which of those is best: of 8 that it likes best the fastest is seldom its first. Where
// a contraction is computed often, some twenty runs of it pay.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/units/quantity.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct RaceOptions {
  std::size_t schedules = 8;  // that run, the model's choice among them; 1: that alone, unrun
  int threads = 1;
  bool hot = false;  // caches are as the call before leaves them; emptied before each otherwise
  // Of wall time for runs: none begins after it, and without a final the model's choice stays.
  Seconds most{60};
  // 0 to 1, before each run.
  std::function<void(double share)> progress = [](double) {};
  std::stop_token stop = {};
};

struct Raced {
  Schedule schedule;    // the winner
  std::size_t ran = 0;  // schedules in the race
  bool won = false;     // another one than the model's choice
};

// The model's choice for one of `threads` cores of the machine, for_running(), and the runners-up
// beside it (core/optimize/runners_up.hpp), in a tournament() on this machine, with operands of its
// own. Of one thread the processor's time counts, else the wall's. Throws as optimize() and
// Contractor do; runners-up for whose copies there is no memory are left out.
Raced race(const Contraction& contraction, const Machine& machine, const RaceOptions& options = {});

// The place of the quickest of `count` (>= 1) by `time(i)`, which runs one and says what it took.
// Each runs once, the quicker half runs again, and so on until one is left; the median of each
// counts. The one that is left and the first then run in five turns, and it takes the first's place
// if it is quicker in most of them. The first one stays where `go_on` says no before that.
std::size_t tournament(
    std::size_t count, const std::function<Seconds(std::size_t)>& time,
    const std::function<bool()>& go_on = [] { return true; });

}  // namespace tcsim
