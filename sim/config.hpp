// What is simulated: caches behind one another, for one core or several. Where simulators differ in
// a rule, it says which one holds. docs/simulator.md, "Rules of a level", gives the whole protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/units/quantity.hpp"
#include "sim/policy/qlru.hpp"

namespace tcsim::sim {

// What becomes of a write-back whose line the level lacks.
enum class WriteBackMiss {
  allocate,  // the line is put in; nothing is fetched if the write-back brings the whole line
  pass       // it goes on to the next level
};

// Where a line goes while its set has empty ways.
enum class EmptyWays {
  first,  // into the empty way of the lowest number
  tree    // where the bits of tree PLRU point, though a line may be there
};

struct LevelConfig {
  std::string name;
  std::int64_t sets = 1;  // any number
  std::int64_t ways = 1;  // any number
  Bytes line{64};         // a power of two
  Replacement replacement = Replacement::lru;
  Inclusion inclusion = Inclusion::neither;  // towards the levels inside; neither at the innermost
  WritePolicy write = WritePolicy::write_back;
  bool write_allocate = true;  // a write that misses fetches its line
  Prefetch prefetch = Prefetch::none;
  int prefetch_ahead = usual_prefetch_ahead;  // of a streamer
  SetIndex index = {};
  int victim_lines = 0;  // of the victim cache beside it
  int shared_by = 1;     // neighbouring cores that share one such cache

  // Rules in which simulators differ.
  bool write_hit_refreshes = true;   // a write that finds its line is a use of it
  bool write_back_refreshes = true;  // so is a write-back that does
  WriteBackMiss write_back_miss = WriteBackMiss::allocate;
  EmptyWays empty_ways = EmptyWays::first;
  std::optional<Qlru> qlru = {};  // instead of `replacement`; 2 to 64 ways

  // Of a sliced level: exclusive or with the slice's number. For a part of the sets whose lines'
  // numbers have been shortened (sim/sampled_classes.hpp).
  std::uint64_t slice_flip = 0;

  std::int64_t sets_in_slice() const { return sets / index.slices(); }
  std::int64_t lines() const { return sets * ways + victim_lines; }

  bool operator==(const LevelConfig&) const = default;
};

struct SystemConfig {
  std::string name;                 // in errors
  std::vector<LevelConfig> levels;  // innermost first; memory behind the last one has every line
  int cores = 1;
  bool drain = true;       // dirty lines are written back at the end
  std::uint64_t seed = 1;  // of random, brrip and QLRU's MR variants

  bool operator==(const SystemConfig&) const = default;
};

// The seed of one cache's policy.
std::uint64_t cache_seed(const SystemConfig& config, std::size_t level, std::size_t instance);

// The caches of a machine with a number of cores at work; with one core it has all to itself.
// Throws UnsupportedError where a level is no cache.
SystemConfig system_of(const Machine& machine, int cores = 1);

// Throws UnsupportedError, naming the level, for what cannot be:
//  - no level, a line that is no power of two, sets or ways below 1 or together 2^31 or more,
//  - an innermost level that is inclusive or exclusive,
//  - an inclusive level with shorter lines than the one inside it,
//  - an exclusive level with other lines than the one inside it,
//  - an exclusive level that prefetches or has a victim cache, which is what it is itself,
//  - a victim cache of fewer than 0 lines,
//  - a streamer that runs less than a line ahead,
//  - a sliced level whose sets are no multiple of the slices, or whose masks leave sets empty,
//  - QLRU of one way or more than 64,
//  - EmptyWays::tree without tree PLRU, or with more than 64 ways,
//  - a cache whose number of cores is no multiple of that of the caches inside it.
void check(const SystemConfig& config);

// LRU, neither inclusive nor exclusive, write-back with allocation, the usual rules, sets by
// modulo, one line size, no prefetch, one core.
bool is_plain(const SystemConfig& config);

// Whether sim/hierarchy.hpp, which is faster, gives the same: plain, or only so far from it that
// lines which differ in low bits never meet and one more use of the same line changes nothing.
// Levels may be FIFO, tree-PLRU or bit-PLRU (of up to 32 ways), sliced, inclusive or exclusive;
// then the sets (of a slice) of each are a multiple of 4.
bool runs_by_blocks(const SystemConfig& config);

}  // namespace tcsim::sim
