// Small machines and workloads for tests.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/parse.hpp"

namespace tcsim::test {

struct CacheSpec {
  std::int64_t sets, ways;
};

// Caches L1, L2, ... and memory; every link at 1 byte per cycle, 1 GHz, 8 flops per cycle f64.
inline Machine machine(const std::vector<CacheSpec>& caches, std::int64_t line_bytes = 64) {
  Machine m;
  m.name = "test";
  for (std::size_t i = 0; i < caches.size(); ++i) {
    Level l;
    l.name = "L" + std::to_string(i + 1);
    l.capacity.value = Bytes(caches[i].sets * caches[i].ways * line_bytes);
    l.ways.value = caches[i].ways;
    l.line.value = Bytes(line_bytes);
    l.bandwidth.value = {1, Bandwidth::Unit::bytes_per_cycle};
    m.levels.push_back(l);
  }
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  memory.bandwidth.value = {1, Bandwidth::Unit::bytes_per_cycle};
  m.levels.push_back(memory);
  m.core.frequency.value = Hertz(1e9);
  m.core.vector_bits.value = 256;
  m.core.vector_registers.value = 16;
  m.core.fma_per_cycle.value = 1;
  m.core.fma_latency.value = Cycles(4);
  return m;
}

// C[i,j] = A[i,k] B[k,j], row-major f64.
inline Contraction matmul(std::int64_t m, std::int64_t n, std::int64_t k,
                          Layout layout = Layout::row_major) {
  return parse_contraction("ij-ik-kj", {{'i', m}, {'j', n}, {'k', k}}, layout, ElementType::f64);
}

// Of matmul(), whatever its extents.
inline Schedule schedule(const std::string& text) {
  return parse_schedule(text, matmul(1, 1, 1), "test");
}

}  // namespace tcsim::test
