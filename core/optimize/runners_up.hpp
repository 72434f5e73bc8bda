// What to run beside a choice. What is estimated of a schedule that runs
// (core/optimize/exposed.hpp) cannot tell the best few apart, so whoever computes a contraction
// often lets them race (kernels/race.hpp).
#pragma once

#include <cstddef>
#include <stop_token>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Up to `count` legal schedules, each one move away from `chosen`, optimize()'s answer for these
// options: tilings of the family (Search::neighbours()), the tiling that it was rewritten from, and
// rewrites() of it. Those that score best come first. None is the choice or comes twice; they
// divide the same group among threads. Deterministic. Throws as optimize() does.
std::vector<Schedule> runners_up(const Contraction& contraction, const Machine& machine,
                                 const Optimized& chosen, std::size_t count,
                                 const OptimizeOptions& options, std::stop_token stop = {});

}  // namespace tcsim
