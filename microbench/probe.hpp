// Measuring a machine whose topology is known, with loops that are given: probe_host() without the
// choice of either, so that tests can make both. What is measured (Measured) and what is made of it
// (assemble()) are separate, and the second is a pure function.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "microbench/host.hpp"
#include "microbench/levels.hpp"
#include "microbench/loops.hpp"
#include "microbench/timing.hpp"
#include "microbench/topology.hpp"

namespace tcsim {

// Latency of loads that wait for one another, at one working set.
struct ChaseSeries {
  Bytes working_set;
  std::vector<Seconds> repetitions;  // of one load
  Hertz frequency;                   // sustained meanwhile
  bool unstable = false;
};

// Latency of a multiply-add; of the x86-64 baseline, of a multiplication and an addition.
struct FmaLatency {
  std::string instruction_set;
  Bytes element{8};
  Cycles median;
};

// All that was measured, before it is made a machine.
struct Measured {
  std::string instruction_set;  // the widest: of the machine's own figures
  int vector_bits = 0, vector_registers = 0;
  Hertz frequency;  // sustained by one core while measuring
  std::vector<PeakSeries> peaks;
  std::vector<FmaLatency> fma_latencies;
  std::vector<std::vector<BandwidthSeries>> streams;  // of each level
  std::vector<ChaseSeries> chases;                    // the curve: working sets ascend
  std::vector<ChaseSeries> latencies;  // of each level, on a working set that it holds
  LevelSpans levels;
  // How it was measured.
  std::vector<int> cpus;  // one of each core; the first measures alone
  bool pinned = true;
  int rounds = 0, repetitions = 0;  // wanted of each round
  int disturbed = 0;                // repetitions that were left out
  ClockQuality clock;
  Bytes block, on_huge_pages;
  std::vector<std::string> remarks;
};

// Working sets of a curve from a quarter of the innermost cache to four times the outermost one,
// whole loop_steps, `per_octave` of them (1 to 8) each time the size doubles.
std::vector<Bytes> curve_sets(const std::vector<CacheGeometry>& caches, int per_octave);

// What each of `cores` cores works on, so that all of them together have a working set of this
// kind in this level (an index into caches; memory follows them): the whole of `one_core` in a
// cache of its own, a share of it in one that it shares, yet enough to leave the level inside.
Bytes share_of(Bytes one_core, std::size_t level, int cores,
               const std::vector<CacheGeometry>& caches);

// 1 to `most` up to 16, then two to an octave, and `most` itself.
std::vector<int> core_counts(int most);

// Measures on one processor of each core. `sets` are the loops to run, widest first. Throws
// Interrupted if asked to stop, UnsupportedError if there is too little memory.
Measured measure(const MergedTopology& topology, const std::vector<int>& cpus,
                 const std::vector<const InstructionSetLoops*>& sets, const ProbeOptions& options);

// A bandwidth out of all series of a level with the same mix, type, instruction set and cores.
struct MixFigure {
  AccessMix mix;
  Bytes element;
  std::string instruction_set;
  int cores = 1;
  BytesPerSecond median;       // of all cores together
  double bytes_per_cycle = 0;  // the same over the clock that the cores sustained
  double spread = 0;           // interquartile range over the median
  bool unstable = false;
};

// What a level's bandwidth rests on.
struct LevelFigure {
  Bytes from, to;     // working sets of the plateau
  double spread = 0;  // interquartile range of the plateau's repetitions over their median
  bool unstable = false;
  std::vector<MixFigure> mixes{};  // widest instruction set first, one core first
};

// The machine "host", which passes check() and holds all series, and what is known besides.
struct Probed {
  Machine machine;
  std::vector<LevelFigure> figures;  // one for each level
  Topology topology;
  Measured measured;
};
Probed assemble(const MergedTopology& topology, const std::string& description, Measured measured);

// Lowers each bandwidth that exceeds that of the level inside it to that one, and says so in its
// source: noise can make an outer level look faster, and check() refuses such a machine.
void lower_to_inner(std::vector<Level>& levels, Hertz frequency);

}  // namespace tcsim
