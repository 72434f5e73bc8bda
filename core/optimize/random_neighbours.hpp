// Schedules drawn around a choice: to ask whether it is better than what lies beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Up to `count` schedules, each one to three moves of the search away from `chosen`: of the
// optimizer's family (Search::neighbours()), or of rewrites() where it was rewritten. They differ,
// and none is the chosen one; there are fewer where so many are not found. Equal seeds give equal
// schedules everywhere. Throws as common_line() does.
std::vector<Schedule> random_neighbours(const Contraction& contraction, const Machine& machine,
                                        const Incumbent& chosen, std::size_t count,
                                        std::uint64_t seed);

}  // namespace tcsim
