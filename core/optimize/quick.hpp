// A schedule within microseconds, where all tensors fit into the first cache: what optimize() looks
// for, traffic between levels, is not there, and it would take a thousand times as long as the
// contraction itself.
#pragma once

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Of all three together.
Bytes bytes_of_tensors(const Contraction& contraction);

// Whether the first cache has room for all three tensors, and none is an image.
bool fits_first_cache(const Contraction& contraction, const Machine& machine);

// Of the orders of dimensions and of the kernels that optimize() tries, those that take the core
// the least time: multiply-adds, packs, and calls of kernels. One tile for all caches. Passes
// check(). Precondition: fits_first_cache().
Schedule quick_schedule(const Contraction& contraction, const Machine& machine);

}  // namespace tcsim
