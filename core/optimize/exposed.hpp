// What neither the model's links nor kernel_time() say of a schedule: the time in which the core
// computes nothing and no link is busy. Where computation is the bottleneck by far, schedules
// differ in that alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/schedule/schedule.hpp"

namespace tcsim {

// An estimate, to compare schedules of one contraction. Traffic takes Machine::link_time().
// Hardware runs ahead of kernels that read an operand, so their traffic hides behind computation.
// What does not hide:
//  - the traffic of packing, over every link, and that of C, of tiles a share; it takes longer the
//    shorter the pieces are in which C comes and goes, above all from and to memory,
//  - what kernels read from memory of an operand in place, and what they wait for it: hardware does
//    not foresee the first lines of a page, nor pages that kernels come back to behind many others;
//    twice what they ask for long before they read it; nothing of columns that they ask for while
//    they compute the ones before, nor of rows that they ask for a round ahead and a cache keeps,
//  - part of what they read of packed operands from the second and third cache and from memory, but
//    for what they ask for in time (core/schedule/rounds.hpp),
//  - tables of offsets beyond the second cache, where kernels write lines,
//  - translations of pages that kernels come back to behind many others, where they read an operand
//    in place and memory does not decide,
//  - addresses of the right operand's columns, if it is not packed and they are apart,
//  - the update of C where a kernel's rows are not neighbours there,
//  - the beginning of a pack, which waits for memory,
//  - the address translation of each page that a pack begins with,
//  - what a pack moves, run by run or square by square,
//  - lines that a pack writes here and there beyond the last cache or the reach of translation,
//  - what a kernel takes to go on where places along k are no longer evenly apart in place,
//  - the beginning of a block of kernel calls, unless those are noted and replayed,
//  - tiles within which the left operand's rows in place end, and copies of rows that are apart,
//  - the beginning and the end of a tile and of a row of tiles; above all of a tile that is smaller
//    than the kernel, and of one whose rows are not all neighbours in C.
// What each costs is the machine's: Core::overhead and Level::exposed, TLBs where it names them.
//
// The left operand's columns in place are foreseen by the hardware where a long loop over rows, the
// innermost one, has at most so many of them inside it, or where such a loop goes through what lies
// together in memory and in the first cache. Source: measured on an Intel Xeon, matrices
// of 64 to 190 MB by columns times a vector: 4 to 16 columns at a time are alike, 64 take 1.2 times
// as long, 512 twice.
inline constexpr std::int64_t most_streams = 16;

// Kernel calls for a place of the batch up to which the executor notes them and does them again
// (kernels/replay.hpp), unless results go to C by way of a buffer.
inline constexpr std::int64_t most_noted = 32;

struct Exposed {
  Seconds traffic;  // the first four, but for C's pieces
  Seconds core;     // the others: no link's traffic can hide behind these either
  Seconds pieces;   // of C: memory takes that long beside its traffic. 0 where computing hides it
  Seconds all() const { return traffic + core + pieces; }
};
// How the executor comes to its kernel calls: few of them are noted the first time and done again
// from then on, for other places of the batch and other runs. Each run of a probe walks.
enum class CallsAre { noted, walked };
Exposed exposed(const Contraction& contraction, const Schedule& schedule,
                const Prediction& prediction, const Machine& machine,
                CallsAre calls = CallsAre::noted);

// The machine as what stays in its first cache from run to run sees it: links beyond that cache
// take no time, and nothing waits for them.
Machine in_first_cache(Machine machine);

// What a run on one core with cold caches is expected to take: as long as the slowest link and C's
// pieces, or computing and then all else that neither hides. How near that comes:
// docs/validation.md.
struct Expected {
  Seconds slowest;  // link, where loads and stores have their own rates
  Seconds compute;  // kernel_time()
  Exposed waiting;
  Seconds link() const { return slowest + waiting.pieces; }
  Seconds core() const { return compute + waiting.traffic + waiting.core; }
  Seconds total() const { return std::max(link(), core()); }
};
Expected expected(const Contraction& contraction, const Schedule& schedule,
                  const Prediction& prediction, const Machine& machine);

}  // namespace tcsim
