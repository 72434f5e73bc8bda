// A stream over a working set, on one or several threads at once, as work to be timed.
#pragma once

#include <vector>

#include "core/machine/measurement.hpp"
#include "microbench/loops.hpp"
#include "microbench/memory.hpp"
#include "microbench/timing.hpp"

namespace tcsim {

// Arrays that a mix runs over: one (load-FMA-store, load), two (copy) or three (triad).
int array_count(AccessMix mix);
// Bytes that count for each byte of one array: 2 for load-FMA-store (loaded and stored), 1 for
// load, 2 for copy, 3 for triad. Lines that a store fetches first do not count.
int counted_per_byte(AccessMix mix);

// Where the arrays of a working set lie in a block. Whole loop_steps, and staggered, so that a
// load does not have the low address bits of a store before it (it would wait for that, "4K
// aliasing").
struct StreamLayout {
  StreamLayout(AccessMix mix, Bytes working_set);

  long array = 0;       // bytes of one
  long offset[3] = {};  // of each from the block's begin
  Bytes working_set;    // of all arrays together: what was asked for, rounded down
  Bytes end() const;    // that the block must reach
};

// The largest block that a working set needs, in any mix.
Bytes block_for(Bytes working_set);

// Work of which one unit is loop_step bytes of each array, on thread i in blocks[i]; the blocks
// must outlive it. A repetition goes on where the last one ended, so that a working set that takes
// long still has short repetitions, and nothing is used again before all else was.
Work stream_work(AccessMix mix, const ElementLoops& loops, Bytes working_set,
                 const std::vector<Block>& blocks);

// Bytes per second of all threads together, for each repetition.
std::vector<BytesPerSecond> stream_rates(AccessMix mix, int threads, const Timed& timing);

}  // namespace tcsim
