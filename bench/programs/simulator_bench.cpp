// Speed of the simulator on the optimizer's schedules and on a plainly tiled multiplication, three
// cache levels of 48 KiB/12, 1 MiB/16 and 32 MiB/16 with lines of 64 bytes. Counters: elements that
// the core loads and stores, and touches of lines, each by second of simulation; the share of
// touches that was repeated; the largest memory of the process so far.
//
//   simulator_bench --benchmark_filter=512      the tiled 512^3
//   simulator_bench --benchmark_filter=tccg_8   full-size tccg:8
//   simulator_bench --benchmark_filter=suite    all of TCCG, full size
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "core/optimize/optimize.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/suite.hpp"
#include "sim/simulate.hpp"

namespace {

using namespace tcsim;

Level cache(const char* name, std::int64_t kibibytes, std::int64_t ways, double bytes_per_cycle) {
  Level level;
  level.name = name;
  level.capacity.value = Bytes(kibibytes << 10);
  level.ways.value = ways;
  level.line.value = Bytes(64);
  level.bandwidth.value = {bytes_per_cycle, Bandwidth::Unit::bytes_per_cycle};
  return level;
}

Machine machine() {
  Machine m;
  m.name = "bench";
  m.levels = {cache("L1", 48, 12, 32), cache("L2", 1024, 16, 24), cache("L3", 32 << 10, 16, 12)};
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  memory.bandwidth.value = {6, Bandwidth::Unit::bytes_per_cycle};
  m.levels.push_back(memory);
  m.core.frequency.value = Hertz(2.6e9);
  m.core.vector_bits.value = 512;
  m.core.vector_registers.value = 32;
  m.core.fma_per_cycle.value = 1;
  m.core.fma_latency.value = Cycles(4);
  return m;
}

// Sums over the simulations that a benchmark times.
struct Totals {
  double elements = 0, touches = 0, repeated = 0;
};

void simulate_into(Totals& totals, const Contraction& c, const Schedule& s, SimulationOptions how) {
  SimulationEffort effort;
  how.effort = &effort;
  const Simulation result = simulate(Plan(c, s), machine(), how);
  for (const auto& phase : result.traffic.links[0].moved) {
    for (const Moved& m : phase) {
      totals.elements += static_cast<double>((m.in + m.out) / size_of(c.type()));
    }
  }
  totals.touches += static_cast<double>(result.touches.value());
  totals.repeated += static_cast<double>(effort.repeated.value());
}

void report(benchmark::State& state, const Totals& totals) {
  using benchmark::Counter;
  state.counters["elements/s"] = Counter(totals.elements, Counter::kIsRate);
  state.counters["touches/s"] = Counter(totals.touches, Counter::kIsRate);
  state.counters["repeated"] = totals.repeated / totals.touches;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

SimulationOptions options(const benchmark::State& state) {
  return {.threads = static_cast<int>(state.range(0)), .replay = state.range(1) != 0};
}

void matmul(benchmark::State& state, const char* text) {
  const Contraction c = parse_contraction("ij-ik-kj", {{'i', 512}, {'j', 512}, {'k', 512}},
                                          Layout::row_major, ElementType::f64);
  const Schedule s = parse_schedule(text, c, "bench");
  Totals totals;
  for (auto _ : state) simulate_into(totals, c, s, options(state));
  report(state, totals);
}

// Tiles of 64: three loops around a kernel that walks along k.
constexpr const char* packed =
    "groups m=j n=i k=k for n by 64 { for k by 64 { pack A in L2 { for m by 64 { pack B in L1 { "
    "for "
    "n by 8 { for m by 8 { kernel 8x8 } } } } } } }";
constexpr const char* in_place =
    "groups m=j n=i k=k for n by 64 { for k by 64 { for m by 64 { for n by 8 { for m by 8 { kernel "
    "8x8 } } } } }";
// As a compiler would have it from six plain loops: a row of a tile of C, one k at a time.
constexpr const char* plain_loops =
    "groups m=j n=i k=k for n by 64 { for k by 64 { for m by 64 { for n by 1 { for k by 1 { kernel "
    "64x1 } } } } }";

void matmul_512_packed(benchmark::State& state) { matmul(state, packed); }
void matmul_512_in_place(benchmark::State& state) { matmul(state, in_place); }
void matmul_512_plain_loops(benchmark::State& state) { matmul(state, plain_loops); }

void tccg(benchmark::State& state, std::size_t from, std::size_t to) {
  const Suite suite = find_suite("tccg", {});
  std::vector<Schedule> schedules;
  for (std::size_t i = from; i < to; ++i) {
    schedules.push_back(optimize(suite.workloads[i], machine()).schedule);
  }
  Totals totals;
  for (auto _ : state) {
    for (std::size_t i = from; i < to; ++i) {
      simulate_into(totals, suite.workloads[i], schedules[i - from], options(state));
    }
  }
  report(state, totals);
}

void tccg_8(benchmark::State& state) { tccg(state, 7, 8); }
void tccg_suite(benchmark::State& state) { tccg(state, 0, 36); }

}  // namespace

// Arguments: threads, and whether what happened before is repeated.
BENCHMARK(matmul_512_packed)->Args({1, 1})->Args({1, 0})->Args({2, 1})->UseRealTime();
BENCHMARK(matmul_512_in_place)->Args({1, 1})->Args({1, 0})->Args({2, 1})->UseRealTime();
BENCHMARK(matmul_512_plain_loops)->Args({1, 1})->Args({1, 0})->Args({2, 1})->UseRealTime();
BENCHMARK(tccg_8)
    ->Args({1, 1})
    ->Args({2, 1})
    ->UseRealTime()
    ->Unit(benchmark::kSecond)
    ->Iterations(1);
BENCHMARK(tccg_suite)->Args({2, 1})->UseRealTime()->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK_MAIN();
