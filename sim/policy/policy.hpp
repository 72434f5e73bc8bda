// The protocol of a replacement policy. A policy keeps what it needs to know of the sets of one
// cache; sets do not influence each other, so that a part of them can be simulated alone. It has
//
//   Policy(sets, ways, seed)
//   void filled(set, way)            a line was put into the way
//   void used(set, way)              the line in the way was used
//   void emptied(set, way)           the way lost its line, not by victim()
//   std::uint32_t victim(set)        the way whose line is to leave; every way has one
//   std::uint64_t age(set, way)      ways of a set are drained in this order, then by number
//
// An empty way is always filled before a line leaves, the one of the lowest number first; that is
// the cache's business (sim/cache.hpp), as is everything that is not replacement.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tcsim::sim {

// Place of a way in an array with an entry for each way of each set.
constexpr std::size_t place(std::int64_t set, std::uint32_t ways, std::uint32_t way) {
  return static_cast<std::size_t>(set) * ways + way;
}

// A pseudorandom number that depends on these three alone: sets draw independently of each other.
// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t set, std::uint64_t number) {
  const auto mix = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  };
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  return mix(mix(mix(seed + golden) + set * golden) + number * golden);
}

}  // namespace tcsim::sim
