// What a schedule's kernels take of the core with their data at hand: at least the multiply-adds at
// the peak. Vectors are whole whatever a tile's rows, and a result waits for its last multiply-add
// (acmtc-sc19, section 4), so tiles of few rows or columns take longer for each result, unless the
// core works on several tiles at once, as it does where k is short.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// All multiply-adds at the peak of one core: the compute roof.
Seconds peak_time(const Contraction& contraction, const Machine& machine);

// The least that kernels with these groups take: whole vectors, of all rows together, or of kernels
// along k the peak.
Seconds whole_vectors_time(const Contraction& contraction, const Groups& groups, bool along_k,
                           const Machine& machine);

// Kernels of a schedule that has passed check(), one core. No less than peak_time().
Seconds kernel_time(const Contraction& contraction, const Schedule& schedule,
                    const Machine& machine);

// Sizes of tiles, and how many there are of each; a size may come twice.
using TileSizes = std::vector<std::pair<std::int64_t, double>>;

// The kernels' tiles of a group.
TileSizes kernel_tiles(const Path& path, DimClass group);

// Cycles of a step along k of a kernel on so many rows, columns and places along k, with vectors of
// so many lanes.
double step_cycles(const Core& core, std::int64_t lanes, std::int64_t rows, std::int64_t columns,
                   std::int64_t k);

// Vectors that a kernel along k takes for each place along k, a fraction: pieces along k, within
// which places are neighbours in both operands, end with a vector that is not full.
double vectors_along_k(const Contraction& contraction, const Schedule& schedule, const Path& path,
                       std::int64_t lanes);

}  // namespace tcsim
