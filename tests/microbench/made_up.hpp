// A measurement that nobody took: a machine of known figures.
#pragma once

#include "microbench/probe.hpp"

namespace tcsim {

// L1 of 32 KiB, L2 of 1 MiB, shared by two cores; AVX2 at 2 GHz, two multiply-adds a cycle.
// Load-FMA-Store: L1 80, L2 40, memory 10 GB/s, each repetition the same.
inline MergedTopology made_up_topology() {
  MergedTopology t;
  t.topology.source = "made up";
  t.topology.caches = {{1, Bytes(32768), 8, Bytes(64), 1, {}, ""},
                       {2, Bytes(1 << 20), 16, Bytes(64), 2, {}, ""}};
  t.topology.packages = 1;
  t.topology.cores = t.topology.threads = 2;
  t.topology.nodes = {{0, 2, Bytes(1LL << 30)}};
  t.remarks = {"a remark of the topology"};
  return t;
}

inline Measured made_up_measurement() {
  Measured m;
  m.instruction_set = "AVX2";
  m.vector_bits = 256;
  m.vector_registers = 16;
  m.frequency = Hertz(2e9);
  // 2 flops x 4 lanes x 2 a cycle x 2 GHz = 32 GFLOPS.
  for (int cores : {1, 2}) {
    m.peaks.push_back({"AVX2", Bytes(8), cores, {FlopsPerSecond(32e9 * cores)}});
  }
  m.fma_latencies = {{"AVX2", Bytes(8), Cycles(4.02)}};
  m.levels.spans = {
      {Bytes(8192), Bytes(24000)}, {Bytes(48000), Bytes(700000)}, {Bytes(1500000), Bytes(8 << 20)}};
  m.streams.resize(3);
  const double rates[] = {80e9, 40e9, 10e9};
  for (std::int64_t bytes = 8192; bytes <= 8 << 20; bytes *= 2) {
    const std::size_t level = bytes <= 32768 ? 0 : bytes <= 1 << 20 ? 1 : 2;
    for (AccessMix mix : {AccessMix::load_fma_store, AccessMix::load}) {
      BandwidthSeries s;
      s.mix = mix;
      s.instruction_set = "AVX2";
      s.working_set = Bytes(bytes);
      s.frequency = Hertz(2e9);
      s.repetitions.assign(
          5, BytesPerSecond(mix == AccessMix::load ? rates[level] / 2 : rates[level]));
      m.streams[level].push_back(s);
    }
  }
  const double nanoseconds[] = {2, 7, 80};
  for (std::size_t l = 0; l < 3; ++l) {
    m.latencies.push_back({m.levels.spans[l].from, {Seconds(nanoseconds[l] * 1e-9)}, Hertz(2e9)});
  }
  m.chases = m.latencies;
  m.cpus = {0, 1};
  m.rounds = 5;
  m.repetitions = 1;
  m.clock = {Seconds(20e-9), Seconds(25e-9)};
  m.block = m.on_huge_pages = Bytes(8 << 20);
  return m;
}

}  // namespace tcsim
