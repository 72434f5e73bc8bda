// Whether a core's vector registers hold a kernel. The model and the simulator count what a kernel
// loads as if they did: each element of its column and row once for a step of k, and no result. A
// kernel that is larger would put results aside and load them again at every step, which nobody
// counts, so such a schedule is refused (docs/design.md, "Kernels and registers").
#pragma once

#include <string>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Elements of a vector of the core's, at least one.
std::int64_t lanes_of(const Core& core, ElementType type);

// Registers for mr x nr results in vectors of rows, the shorter of a column in vectors and a row in
// broadcasts, and one for the other (acmtc-sc19, section 4). Precondition: both sides are at
// least 1.
std::int64_t registers_of(const Kernel& kernel, const Core& core, ElementType type);

// Whether the core has so many. One vector by one column always fits: it loads two operands for
// each multiply-add and keeps nothing but its result.
bool fits_registers(const Kernel& kernel, const Core& core, ElementType type);

// Whether it has so many for each of the schedule's kernels.
bool fits_registers(const Schedule& schedule, const Core& core, ElementType type);

// Throws UnsupportedError(place, ...), which names a kernel that fits, unless the machine's core
// holds the schedule's.
void require_registers(const Schedule& schedule, ElementType type, const Machine& machine,
                       const std::string& place);

}  // namespace tcsim
