// The family of schedules that the optimizer searches: for each cache level a tile of m, n and k, a
// band of up to three loops that runs over those tiles inside the next level's tile, register
// tiles inside the innermost one, and both operands packed within the outermost band. A Tiling is
// a point of that family; build() writes it as a schedule.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Register tile of the microkernel for a core's vectors and an element type: 512 bits 24x8 f64 and
// 48x8 f32, 256 bits 8x6 and 16x6, 128 bits 4x4 and 8x4. Each keeps at least latency x throughput
// accumulators in flight (acmtc-sc19, section 4) and leaves registers for the operands.
Kernel kernel_for(const Core& core, ElementType type);

// Orders of the dimensions within each group worth trying, the plain one first. Group m is the
// class that holds C's stride-one dimension, which leads it, so that a register tile's rows lie
// side by side in C. Plainly, m and n run in C's memory order and k in that of the operand that it
// is contiguous in. The others bring an operand's stride-one dimension forward (behind C's in m),
// so that a tile uses up the lines that its packing reads, or let k run in the other operand's
// order.
std::vector<std::array<std::string, 4>> groupings(const Contraction& contraction);

struct Tiling {
  std::array<std::string, 4> groups;
  Kernel kernel;
  std::vector<std::array<std::int64_t, 3>> tiles;  // [cache level][m, n, k], innermost level first
  std::vector<std::array<DimClass, 3>> orders;     // loops over those tiles, outermost first
  bool m_inside = true;                            // of the two register loops, m runs inside n
  bool operator==(const Tiling&) const = default;
};

// Loops of a single iteration are left out. A tensor is packed just inside the last loop of the
// outermost band that it follows, for the outermost cache.
Schedule build(const Contraction& contraction, const Machine& machine, const Tiling& tiling);

// Makes the tiles nest and divide evenly: from the outside in, every tile becomes the smallest
// whole number of register tiles (of cache lines along k) that covers the next outer tile in as
// many steps as the wanted size asks for.
void snap(const Contraction& contraction, Bytes line, Tiling& tiling);

}  // namespace tcsim
