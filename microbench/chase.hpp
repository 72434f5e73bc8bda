// Pointer chasing: a cycle through all lines of a block in random order. Each load must wait for
// the one before and no prefetcher can guess the next, so the time of a step is the latency of a
// load.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/units/quantity.hpp"

namespace tcsim {

// Writes into the first word of each line of [data, data + size) the address of another line's, so
// that following them visits every line once before it comes back. One cycle, drawn uniformly from
// all of them (Sattolo 1986) by a generator seeded with `seed`. `size` is a multiple of `line`, at
// least two lines. Returns where to begin.
void* make_cycle(std::byte* data, Bytes size, Bytes line, std::uint64_t seed);

}  // namespace tcsim
