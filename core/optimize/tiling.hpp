// The family of schedules that the optimizer searches. Each cache level has a tile of m, n and k,
// and a band of up to three loops that runs over those tiles inside the next level's tile. Register
// tiles lie inside the innermost one. Operands are packed within the outermost band, unless kernels
// read them in place. A Tiling is a point of that family; build() writes it as a schedule.
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

// Register tiles of microkernels worth trying for a core's vectors and an element type, the
// preferred one first. By acmtc-sc19, section 4, each keeps at least latency x throughput
// accumulators in flight and leaves registers for a column of the left operand and one broadcast of
// the right. The first one is listed even where it keeps fewer. In vectors: 3x8, 2x14 and 4x6 for
// 32 registers, 2x6, 3x4 and 1x12 for 16.
std::vector<Kernel> kernel_choices(const Core& core, ElementType type);
// Those for a contraction: the same; or where groupings() have lanes one vector by at most 14
// columns and by as few as keep enough accumulators in flight; or where they are for vectors along
// k one such kernel of at most 4 rows, with as many columns as the registers hold, or few beside
// few rows. A matrix that is
// read_once() beside a single place has one of up to 16 vectors where those hold its columns.
// Products without sums have one column, since they write C line by line (writes_lines()).
std::vector<Kernel> kernel_choices(const Core& core, const Contraction& contraction);

// Places of a group that are few. Source: chosen; each element of the largest tensor then takes
// part in so few products that moving it decides on every machine.
inline constexpr std::int64_t few_places = 4;
// The operand that is a matrix whose rows or columns lie along memory, where C has few places of
// the other class: each element is used a few times, so the matrix is read as it lies. C lies so
// too, or is smaller. None elsewhere.
std::optional<TensorId> read_once(const Contraction& contraction);

// Elements of the widest vector that there is.
std::int64_t most_lanes(const Contraction& contraction);
// Whether kernels read some of a vector's lanes, where vectors have so many: all but the shortest
// ones (kernels/some_lanes.hpp).
bool have_masks(const Contraction& contraction, std::int64_t lanes);

// Operands that kernels read as they lie, without a packed copy.
struct InPlace {
  bool left = false, right = false;
  bool operator==(const InPlace&) const = default;
};

// Which operands kernels read well in place, with these groups.
//  - The left one: its rows are neighbours in memory, and enough of them for kernels to seldom need
//    a copy. Its places along k are evenly apart in pieces of even_k(); kernels go on behind one if
//    it is long enough and read few times, and keep to it if not. Of an image the rows are those of
//    a row of it, and there are few columns.
//  - The right one: columns or places along k are neighbours, and all of both are evenly apart; or
//    they are so in pieces, it is read few times, and those along k are long enough: kernels go on
//    behind each, and tiles keep to the columns of an even_row().
InPlace reads_well_in_place(const Contraction& contraction, const Groups& groups,
                            const Kernel& kernel);
// The operand that is not left_operand().
TensorId right_operand(const Contraction& contraction, const Groups& groups);
// How many places of a group are evenly apart in t, from any multiple of it on.
std::int64_t even_part(const Contraction& contraction, TensorId t, const Group& group);
// How many places along k of the left operand are evenly apart, from any multiple of it on.
std::int64_t even_k(const Contraction& contraction, const Groups& groups);
// How many places of group n are evenly apart in the operand that has it, from any multiple of it
// on, or of group m where that operand is an image (its tiles overlap). 0 for a plain operand where
// all are, and for its group m: tiles need not keep to them.
std::int64_t even_row(const Contraction& contraction, const Groups& groups, DimClass group);
// The right operand stays in place only up to this size, or where its columns are at most so far
// apart; and a plain operand in pieces only up to it, or where its places along k are. Source:
// chosen, so that the distance, over which each may lie in a page of its own, does not matter for
// address translation. It does not depend on the machine: the family must not change with a
// capacity that a user varies. Images may stay whatever their size, since a copy of their windows
// is several times as large.
inline constexpr Bytes largest_apart{256 << 10}, farthest_apart{4 << 10};
// Which dimensions the rows of groupings() may run along: those that are neighbours in C, also in
// an order that sets them apart there, or also the other operand's.
enum class RowOrders { neighbours, apart, either };
// Operands that the family leaves in place with any of the kernels and any of the groupings().
InPlace may_read_in_place(const Contraction& contraction, std::span<const Kernel> kernels,
                          RowOrders rows = RowOrders::neighbours);

// Orders of the dimensions within each group worth trying, the plain one first. Group m is the
// class of C's stride-one dimension, which leads it, so that a register tile's rows lie side by
// side in C. In the plain order m and n run as in C's memory, and k as in the operand where it has
// stride one. The others
//  - let m run in the left operand's order behind C's stride-one dimension,
//  - bring the right operand's stride-one dimension forward in n, so that a tile uses up the lines
//    that its pack reads, or let n run in its order, for it to be read as it lies,
//  - let k run in the other operand's order, or bring forward its stride-one dimension there,
//  - with RowOrders::apart, or where that operand is read_once(), let m run in the left operand's
//    order alone, for it to be read in place; where its neighbours in C are then too far apart for
//    result_regions(), with C's stride-one dimension next to the left operand's,
//  - with RowOrders::either, make the class of C's stride-one dimension n: the other operand's
//    places are rows then, in its order or C's, and results go to C by way of a buffer.
// Where one operand has no dimension of C but the batch, and the stride-one dimension of the other
// one is of the batch (a depthwise convolution with channels last), the batch is lanes, and k runs
// in either operand's order. Where places along k are neighbours in both operands and m or n has
// few places (fewer than a vector has lanes; up to four vectors where k is long), or in one of them
// and the other has one row, there is one order, with those as m, for vectors along k. A matrix
// that is read_once() decides the order of k and of the batch, and of m where C's rows are apart.
std::vector<Groups> groupings(const Contraction& contraction,
                              RowOrders rows = RowOrders::neighbours);

// The groups that a Tiling has tiles of, in their order there.
inline constexpr std::array loop_classes{DimClass::m, DimClass::n, DimClass::k};

struct Tiling {
  Groups groups;
  Kernel kernel;  // of kernel_choices(); the schedule's may have fewer columns (narrowed())
  std::vector<std::array<std::int64_t, 3>> tiles;  // [cache level][m, n, k], innermost level first
  std::vector<std::array<DimClass, 3>> orders;     // loops over those tiles, outermost first
  bool m_inside = true;                            // of the two register loops, m runs inside n
  InPlace in_place;
  bool operator==(const Tiling&) const = default;
};

// How kernels cover the columns of an image's row: `first` tiles of `columns`, then `more` of one
// column more, as few as can be.
struct RowCover {
  std::int64_t columns, first, more;
};
RowCover cover_row(std::int64_t row, std::int64_t most_columns);

// The kernel with the fewest columns that covers `extent` columns in as many tiles: 9 columns as 5
// and 4, not as 8 and 1.
Kernel narrowed(const Kernel& kernel, std::int64_t extent);

// Writes a tiling as a schedule. An image's row, where kernels read it in place, is covered by
// kernels of two widths at most, and none goes on into the next row (cover_row()). Two kinds of
// loops are left out: those of a single iteration, and a loop directly around another of the same
// group whose tile divides its own. A tensor is packed for the outermost cache, just inside the
// last loop of the outermost band that it follows.
Schedule build(const Contraction& contraction, const Machine& machine, const Tiling& tiling);

// Makes the tiles nest and divide evenly, and packs what is not read well in place.
//
// From the outside in, a tile's wanted size says in how many steps it covers the next outer tile.
// The tile becomes the smallest one that needs no more steps, in whole register tiles (cache lines
// along k). With `dividing` it becomes the divisor of the next outer tile that is nearest to the
// wanted size, both counted in register tiles.
//
// In the orders, loops that do not run come first, so that equal schedules have equal tilings.
void snap(const Contraction& contraction, Bytes line, Tiling& tiling, bool dividing = false);

// Extent of group c (0 m, 1 n, 2 k).
std::int64_t group_extent(const Contraction& contraction, const Tiling& tiling, std::size_t c);

}  // namespace tcsim
