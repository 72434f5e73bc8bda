// Why a level misses: which tensor, in which phase, reused over which loop. And whether the line
// was never there (compulsory), could not have stayed (capacity) or had to leave for others of its
// set (conflict). It is an observer of sim/system.hpp, so without it nothing is paid. Memory grows
// with the number of lines that are touched.
//
// Every level is judged by the stream of requests and write-backs that reaches it. Against that
// stream, a miss is
//  - compulsory if the line was not in the stream before (an infinite cache would miss),
//  - capacity if a fully associative LRU cache of as many lines (of the victim cache too) would
//  miss: the stream had at least
//    that many other lines since the line's last use (Hill and Smith 1989),
//  - conflict otherwise: sets, another replacement than LRU, or a line that an inclusive level took
//    away.
// A miss that is not compulsory belongs to the loop that carries the reuse: the outermost one that
// began another iteration between the line's last use and this one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/plan.hpp"
#include "sim/reuse_distance.hpp"
#include "sim/simulate.hpp"

namespace tcsim {

struct MissCauses {
  Lines compulsory, capacity, conflict;
  Lines total() const { return compulsory + capacity + conflict; }
  // What a miss counts among, by the other lines in the stream since the line's last use (none if
  // there was no use) and the lines that the level holds.
  Lines& of(const std::optional<std::int64_t>& distance, std::int64_t lines) {
    if (!distance) return compulsory;
    return *distance >= lines ? capacity : conflict;
  }
  MissCauses& operator+=(const MissCauses& o) {
    compulsory += o.compulsory;
    capacity += o.capacity;
    conflict += o.conflict;
    return *this;
  }
  bool operator==(const MissCauses&) const = default;
};

struct LevelAttribution {
  // Misses by phase and array.
  Arrays arrays;
  ByPhase<ByArray<MissCauses>> misses;
  // Misses that are not compulsory, by the loop that carries the reuse: entry i for step i of
  // Plan::steps(), 0 for those that are no loops; the last one, the kernel's, for reuse within one
  // kernel or one pack.
  std::vector<Lines> by_step;
  // Requests by reuse distance d: entry 0 for d = 0, entry i for 2^(i-1) <= d < 2^i; and those of
  // lines that were not in the stream before.
  std::vector<Lines> reuse_distances;
  Lines first_uses;

  MissCauses total() const;
};

struct Attribution {
  Simulation simulation;
  std::vector<LevelAttribution> levels;
};

// simulate() with its reasons; one thread, access by access.
Attribution attribute(const Plan& plan, const sim::SystemConfig& config,
                      const SimulationOptions& options = {});

}  // namespace tcsim
