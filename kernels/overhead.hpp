// What the core of this machine loses beside computing and moving data, measured: run times of
// small problems, fitted (core/optimize/overhead_fit.hpp).
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/optimize/overhead_fit.hpp"
#include "core/plan/plan.hpp"

namespace tcsim {

struct OverheadOptions {
  bool quick = false;  // fewer repetitions
  // Called with what is being measured and the share done in [0, 1].
  std::function<void(const std::string& what, double share)> progress;
  std::stop_token stop;
};

// How long one execution of a plan takes, with caches that the one before left.
using TimePlan = std::function<Seconds(const Plan& plan)>;

// Sets what can be measured of the machine's overhead: task, call, load, partial, broken and
// scatter from problems in the first cache; pack, results and their pieces from tensors in memory.
// A figure that is not to be believed stays as it is, and a remark says why. `time` runs the plans;
// tests make times up. Throws Interrupted if asked to stop.
void measure_overhead(Machine& machine, const OverheadOptions& options, const TimePlan& time);
// The same with real runs on one core.
void measure_overhead(Machine& machine, const OverheadOptions& options = {});

}  // namespace tcsim
