// Tilings drawn around one: to ask whether a choice is better than what lies beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/optimize/tiling.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Up to `count` tilings of the optimizer's family, each one to three moves of its search
// (Search::neighbours()) away from `tiling`. They build different schedules, none that of `tiling`;
// there are fewer where so many are not found. Equal seeds give equal tilings everywhere. Throws as
// common_line() does.
std::vector<Tiling> random_neighbours(const Contraction& contraction, const Machine& machine,
                                      const Tiling& tiling, std::size_t count, std::uint64_t seed);

}  // namespace tcsim
