// Schedules drawn at random, as somebody might write them: to ask how near the model is on
// schedules that no optimizer chose by it.
#pragma once

#include <cstdint>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// A kernel of kernel_choices(), dimensions in any order within their groups, and for each cache a
// tile that fills 30 to 100 % of it, in whole kernels; loops over each cache's tiles in any order.
// Each operand is packed inside the loops of a cache, or in one schedule of six read in place.
// Passes check() and fits the core's registers. Equal seeds give equal schedules everywhere.
Schedule random_schedule(const Contraction& contraction, const Machine& machine,
                         std::uint64_t seed);

}  // namespace tcsim
