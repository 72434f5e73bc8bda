// Exact cache simulation of traces, one for each core.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/attribution.hpp"
#include "sim/hierarchy.hpp"
#include "sim/sample.hpp"
#include "sim/simulate.hpp"
#include "sim/system.hpp"
#include "sim/trace/champsim.hpp"
#include "sim/trace/trace.hpp"

namespace tcsim {

// What is done with the instructions of a trace. They are left out, go through the same caches as
// data, or through an innermost cache of their own, of the same shape, and share the others.
enum class Instructions { ignore, unified, split };

struct TraceOptions {
  // Cores take turns: `grain` accesses of one, then of the next, until each trace is at its end.
  std::int64_t grain = 1;
  Instructions instructions = Instructions::ignore;
  std::stop_token stop = {};
  // How to go about it: results do not depend on what follows.
  int threads = 1;   // at most so many simulate, by classes of sets; one parses
  bool fast = true;  // plain caches by sim/trace/plain_trace.hpp
  std::int64_t line_numbers =
      sim::max_lines;  // that it gives before it moves to the general engine
};

struct TraceSimulation {
  std::int64_t accesses = 0;        // that the cores made; a modify is two
  std::int64_t records = 0;         // of the traces
  std::vector<LevelCounts> levels;  // one per cache
  LevelCounts instructions;  // of the innermost caches for instructions, where they are split
  std::vector<sim::OwnerBytes> bytes;  // over the link outside each level
  bool operator==(const TraceSimulation&) const = default;
};

// `config.cores` has to be the number of traces. Throws InputError for a malformed trace,
// UnsupportedError for caches that cannot be, or split ones where cores share the innermost level.
TraceSimulation simulate(std::span<const std::unique_ptr<sim::TraceReader>> traces,
                         const sim::SystemConfig& config, const TraceOptions& options = {});

// Why the levels miss (sim/attribution.hpp), without arrays, phases and loops, which a trace does
// not name. Caches of one level are judged by their own streams and added up.
struct TraceAttribution {
  struct Level {
    MissCauses misses;
    std::vector<Lines> reuse_distances;
    Lines first_uses;
    bool operator==(const Level&) const = default;
  };
  TraceSimulation simulation;
  std::vector<Level> levels;
  Level instructions;  // of the innermost caches for instructions, where they are split
};

// On one thread, access by access.
TraceAttribution attribute(std::span<const std::unique_ptr<sim::TraceReader>> traces,
                           const sim::SystemConfig& config, const TraceOptions& options = {});

// A part of the sets, as sample() of a plan has it; those of split instructions count with the
// others. On one thread.
SampledSimulation sample(std::span<const std::unique_ptr<sim::TraceReader>> traces,
                         const sim::SystemConfig& config, std::int64_t classes,
                         const TraceOptions& options = {});

// Every access of a plan, as simulate() has them, into a trace.
void write_trace(const Plan& plan, sim::TraceWriter& writer, std::stop_token stop = {});
void write_trace(const Plan& plan, sim::ChampsimWriter& writer, std::stop_token stop = {});

}  // namespace tcsim
