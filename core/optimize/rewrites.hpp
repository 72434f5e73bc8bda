// Schedules beside a schedule: one change of its loops, its packs, its kernel or an order of
// dimensions at a time, whatever legal schedules they are. The family of tilings
// (core/optimize/tiling.hpp) has a place for the loop over the batch and one for each pack, and few
// kernels; what it leaves out seldom matters to a link's traffic, and often to what runs.
#pragma once

#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// What may be read in place: what kernels read well there (reads_well_in_place()), or anything. The
// model does not know what it takes to gather the rows of a kernel.
enum class ReadInPlace { well, any };

// Legal schedules of one path, none twice, that differ from `schedule` in one of these:
//  - the kernel's rows: as many as are neighbours in C or in the left operand, with a loop that
//    keeps to them where a kernel does not hold them, or those of another kernel; its columns,
//  - a pack: elsewhere among the loops, around all of them too; taken out, where the operand may be
//    read in place; put in, where elements are read more than once,
//  - a pack of an operand whose neighbours in memory are places of the batch, or lie behind a few
//    lines: around several of those, in tiles of as many rows as half of a cache has room for, or
//    as lie together,
//  - a loop: elsewhere among the others, taken out, with twice or half as large a tile, or with
//    whole dimensions; one along k of tiles for which half of a cache has room, or of as many
//    columns as the hardware foresees (most_streams),
//  - the order of dimensions in a group: as in a tensor, and what lies together in another one
//    behind the first.
// What is in place is so in `schedule`, or may be. A packed copy is no larger than in
// `schedule`, or than half of the last cache. None of a contraction with images, and of
// a schedule with loops of two tile sizes. Of vectors along k and of lanes, the kernel stays as it
// is, and so does the order of group m.
std::vector<Schedule> rewrites(const Contraction& contraction, const Machine& machine,
                               const Schedule& schedule, ReadInPlace may = ReadInPlace::well);

// Schedules to rewrite whose rows are the columns of `schedule`, one for each kernel, with copies of
// what would not be read well in place: where fewer results than a kernel has rows are neighbours in
// C, the other operand may be the one whose rows are long, and results go to C by way of a buffer
// (core/schedule/result_regions.hpp). None where more are, where rewrites() changes no kernel, of
// products without sums, whose lines of C are written as they lie, and of so few kernel calls that
// they are noted (most_noted).
std::vector<Schedule> exchanged(const Contraction& contraction, const Machine& machine,
                                const Schedule& schedule);

}  // namespace tcsim
