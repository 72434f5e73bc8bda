// The family of schedules that the optimizer searches: for each cache level a tile of m, n and k, a
// band of up to three loops that runs over those tiles inside the next level's tile, register
// tiles inside the innermost one, and the operands packed within the outermost band where kernels
// do not read them as they lie. A Tiling is a point of that family; build() writes it as a
// schedule.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Register tiles of microkernels worth trying for a core's vectors and an element type, the one to
// prefer first. By acmtc-sc19, section 4, each keeps at least latency x throughput accumulators in
// flight (the first as many as there is room for) and leaves registers for a column of the left
// operand and one broadcast of the right. In vectors: 3x8, 2x14 and 4x6 for 32 registers, 2x6, 3x4
// and 1x12 for 16.
std::vector<Kernel> kernel_choices(const Core& core, ElementType type);

// Operands that kernels read as they lie, without a packed copy.
struct InPlace {
  bool left = false, right = false;
  bool operator==(const InPlace&) const = default;
};

// Which operands kernels read well in place, with these groups. The left one: its rows are
// neighbours in memory, at least `kernel` rows of them; its places along k are evenly apart in
// pieces of even_k(), which a kernel may not cross. The right one: its columns and its places along
// k are evenly apart, either of them neighbours.
InPlace reads_well_in_place(const Contraction& contraction, const Groups& groups,
                            const Kernel& kernel);
// So many places along k of the left operand are evenly apart, from any multiple of it on.
std::int64_t even_k(const Contraction& contraction, const Groups& groups);
// Those that the family leaves in place with any of the groupings() without rows apart and any of
// the kernels: the right one only up to this size, so that it does not matter for address
// translation how far apart its columns are.
inline constexpr Bytes largest_right_in_place{256 << 10};
InPlace may_read_in_place(const Contraction& contraction, std::span<const Kernel> kernels);

// Orders of the dimensions within each group worth trying, the plain one first. Group m is the
// class that holds C's stride-one dimension, which leads it, so that a register tile's rows lie
// side by side in C. Plainly, m and n run in C's memory order and k in that of the operand that it
// is contiguous in. The others let m run in the left operand's order behind C's stride-one
// dimension, bring the right operand's stride-one dimension forward in n, so that a tile uses up
// the lines that its packing reads, or let k run in the other operand's order. With `rows_apart`, m
// may also run in the left operand's order alone, for it to be read in place.
std::vector<Groups> groupings(const Contraction& contraction, bool rows_apart = false);

struct Tiling {
  Groups groups;
  Kernel kernel;  // of kernel_choices(); the schedule's may have fewer columns (narrowed())
  std::vector<std::array<std::int64_t, 3>> tiles;  // [cache level][m, n, k], innermost level first
  std::vector<std::array<DimClass, 3>> orders;     // loops over those tiles, outermost first
  bool m_inside = true;                            // of the two register loops, m runs inside n
  InPlace in_place;
  bool operator==(const Tiling&) const = default;
};

// A kernel that covers `extent` columns in as many tiles, as even as can be: 2 of 5 and 4 columns
// in place of 8 and 1.
Kernel narrowed(const Kernel& kernel, std::int64_t extent);

// Loops of a single iteration are left out, and one right around another that takes the same steps.
// A tensor is packed just inside the last loop of the outermost band that it follows, for the
// outermost cache.
Schedule build(const Contraction& contraction, const Machine& machine, const Tiling& tiling);

// Makes the tiles nest and divide evenly, and packs what is not read well in place: from the
// outside in, every tile becomes the smallest whole number of register tiles (of cache lines along
// k) that covers the next outer tile in as many steps as the wanted size asks for; with `dividing`,
// the divisor of the next outer tile that is nearest to it, both counted in register tiles. In the
// orders, loops that do not run come first, so that equal schedules have equal tilings.
void snap(const Contraction& contraction, Bytes line, Tiling& tiling, bool dividing = false);

// Extent of group c (0 m, 1 n, 2 k).
std::int64_t group_extent(const Contraction& contraction, const Tiling& tiling, std::size_t c);

}  // namespace tcsim
