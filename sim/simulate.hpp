// Exact cache simulation of a plan on a machine: the plan is walked, every access of its packs and
// kernels becomes cache-line touches at the executor's addresses, and they run through the
// machine's levels. docs/simulator.md has the rules of a level and the order of accesses.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/traffic.hpp"
#include "core/plan/plan.hpp"
#include "sim/config.hpp"

namespace tcsim {

// What happened at a level, by number of lines (of writes, for those that go through); summed over
// arrays and phases.
struct LevelCounts {
  Lines hits, misses;       // requests from inside: fetches, and writes that go through
  Lines victim_hits;        // of the hits, those in the victim cache
  Lines write_backs;        // dirty lines sent outward
  Lines fetches;            // lines that came over the link outside, for misses and prefetches
  Lines fills;              // lines put in, from outside or by a write-back
  Lines evictions;          // lines that left for another one
  Lines clean_victims;      // clean lines sent outward, to an exclusive level
  Lines writes_through;     // writes sent outward
  Lines invalidations;      // lines that left because an inclusive level lost them
  Lines prefetches;         // fetches before they were asked for
  Lines useful_prefetches;  // of these, asked for before they left

  LevelCounts& operator+=(const LevelCounts& o);
  bool operator==(const LevelCounts&) const = default;
};

struct Simulation {
  Traffic traffic;                  // one link per machine level
  std::vector<LevelCounts> levels;  // one per cache
  Lines touches;                    // line touches that the core issued

  bool operator==(const Simulation&) const = default;
};

// How a simulation went about it.
struct SimulationEffort {
  Lines repeated;  // of the touches, those that were not simulated: see sim/replay.hpp
  int threads = 1;
};

struct SimulationOptions {
  // Called now and then with the share of the multiply-adds that is done, in [0, 1].
  std::function<void(double)> progress = {};
  // Asked to stop, simulate() throws Interrupted.
  std::stop_token stop = {};

  // How to go about it: results do not depend on what follows.
  int threads = 1;            // at most so many; where sets depend on others it takes one
  bool replay = true;         // repeat what happened before instead of simulating it again
  double replay_worth = 4;    // lines that a piece to repeat touches, for each that the caches hold
  Bytes memory{512ll << 20};  // of what replay keeps, on all threads together
  SimulationEffort* effort = nullptr;  // filled in at the end
};

// Dirty lines are drained at the end, so that every byte written reaches memory. Throws
// UnsupportedError for a machine that cannot be simulated (sim/config.hpp), or has lines shorter
// than an element or longer than 4096 bytes.
Simulation simulate(const Plan& plan, const Machine& machine,
                    const SimulationOptions& options = {});

// The same for caches with rules that a machine file does not have.
Simulation simulate(const Plan& plan, const sim::SystemConfig& config,
                    const SimulationOptions& options = {});

// One of equal shares of the sets: lines whose number is `number` modulo `of`; where levels have
// lines of several sizes, what lies in the longest ones of such numbers. They meet no other lines
// in a set.
struct Share {
  std::int64_t number = 0, of = 1;  // `of` is a power of two, at most most_shares()
};

// What crosses the links behind the caches of lines of this share alone; on one thread. All shares
// together are what simulate() counts. The first link, to the core, has the bytes of all lines.
Traffic simulate_share(const Plan& plan, const sim::SystemConfig& config, Share share,
                       const SimulationOptions& options = {});

// A power of two; 1 where the sets cannot be divided.
std::int64_t most_shares(const sim::SystemConfig& config);

// Of so many bytes from this address on, those that lie in lines of the share.
Bytes bytes_in(const sim::SystemConfig& config, Share share, Bytes from, Bytes size);

// Translations of one TLB's pages; it is asked for those that the one before it lacks.
struct TlbCounts {
  std::string name;
  Bytes page;
  std::int64_t hits = 0, misses = 0;
  bool operator==(const TlbCounts&) const = default;
};

// The machine's TLBs, as LRU caches of pages. Those with pages of one size stand behind each other
// in the machine's order, as if all memory had pages of that size. Throws UnsupportedError for a
// TLB whose entries are no whole number of sets, or a page that is no power of two.
std::vector<TlbCounts> simulate_tlbs(const Plan& plan, const Machine& machine,
                                     const SimulationOptions& options = {});

}  // namespace tcsim
