// What happens at caches, as sim/system.hpp counts it and tells it.
#pragma once

#include <cstdint>

#include "core/units/quantity.hpp"

namespace tcsim::sim {

// What happened at the caches of one level, together.
struct LevelEvents {
  // Requests from inside: fetches, writes of the core, writes that a write-through level passed on.
  std::int64_t hits = 0, misses = 0;
  std::int64_t victim_hits = 0;  // of the hits, those in the victim cache
  // Lines got over the link outside: for misses that fetch, partial write-backs, prefetches.
  std::int64_t fetches = 0;
  std::int64_t prefetches = 0;         // of these, before they were asked for
  std::int64_t useful_prefetches = 0;  // of these, asked for before they left
  std::int64_t fills = 0;              // lines put in, from either side
  std::int64_t evictions = 0;          // lines that left for another one
  std::int64_t invalidations = 0;      // lines that left because an inclusive level lost them
  std::int64_t write_backs = 0;        // dirty lines sent outward
  std::int64_t clean_victims = 0;      // clean lines sent outward, to an exclusive level
  std::int64_t writes_through = 0;     // writes sent outward
  Bytes bytes_in, bytes_out;           // over the link outside the level

  LevelEvents& operator+=(const LevelEvents& o);

  bool operator==(const LevelEvents&) const = default;
};

// Bytes over the link outside each level by who they belong to; see System::System.
struct OwnerBytes {
  Bytes in, out;
  bool operator==(const OwnerBytes&) const = default;
};

// What an observer of a system is told. Before the level changes:
//  - request: a cache of a level was asked for the line at `address` by one inside it, or by the
//    core; innermost, each touch of a line by the core is one,
//  - arrival: a line was written back to the cache and was put in, or was there.
// Afterwards:
//  - came: a line is in its set now,
//  - left: a line is in its set no more; it may be in the victim cache.
// One that does not need them all derives from this one.
struct NoObserver {
  void request(int /*level*/, int /*cache*/, std::uint64_t /*address*/, bool /*write*/,
               bool /*hit*/) {}
  void arrival(int /*level*/, int /*cache*/, std::uint64_t /*address*/) {}
  void came(int /*level*/, int /*cache*/, std::uint64_t /*address*/) {}
  void left(int /*level*/, int /*cache*/, std::uint64_t /*address*/) {}
};

}  // namespace tcsim::sim
