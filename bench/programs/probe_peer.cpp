// Whether tcsim probe can be believed: its FMA peak against a loop that is written in assembly and
// touches registers only, its load bandwidth in L1 against likwid-bench on the same working set,
// and two probes against each other. Everything runs on the same processor, turn by turn, so that
// what disturbs one disturbs the other. Prints tables; exits with 1 where a target is missed.
//
//     probe_peer [--full]     two full probes in place of two quick ones
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/statistics.hpp"
#include "core/units/text.hpp"
#include "microbench/memory.hpp"
#include "microbench/probe.hpp"
#include "microbench/stream.hpp"
#include "microbench/team.hpp"
#include "microbench/topology.hpp"

namespace {

using namespace tcsim;

constexpr int turns = 15;
// Of the peer's loop: about as long as one of our repetitions, so that some pass undisturbed.
constexpr int peer_passes = 25000;
constexpr double peak_target = 0.03, load_target = 0.10, probe_target = 0.10;

std::vector<double> numbers(const std::vector<Seconds>& times) {
  std::vector<double> v;
  for (Seconds s : times) v.push_back(s.value());
  return v;
}

#if defined(__x86_64__)
// Multiply-adds on registers of their own, in assembly: no compiler between.
constexpr int peer_accumulators = 14;

#define ALL_14(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13)

__attribute__((target("avx512f"))) void peer_avx512(long rounds) {
#define ZERO(i) "vpxorq %%zmm" #i ",%%zmm" #i ",%%zmm" #i "\n"
#define FMA(i) "vfmadd231pd %%zmm14,%%zmm15,%%zmm" #i "\n"
  __asm__ volatile(ALL_14(ZERO) ZERO(14) ZERO(15) "1:\n" ALL_14(FMA) "dec %0\njnz 1b\n"
                                                                      "vzeroupper\n"
                   : "+r"(rounds)
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                     "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
#undef ZERO
#undef FMA
}

__attribute__((target("avx2,fma"))) void peer_avx2(long rounds) {
#define ZERO(i) "vxorpd %%ymm" #i ",%%ymm" #i ",%%ymm" #i "\n"
#define FMA(i) "vfmadd231pd %%ymm14,%%ymm15,%%ymm" #i "\n"
  __asm__ volatile(ALL_14(ZERO) ZERO(14) ZERO(15) "1:\n" ALL_14(FMA) "dec %0\njnz 1b\n"
                                                                      "vzeroupper\n"
                   : "+r"(rounds)
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                     "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
#undef ZERO
#undef FMA
}

void (*peer_of(const InstructionSetLoops& set))(long) {
  return set.vector_bits == 512 ? peer_avx512 : set.vector_bits == 256 ? peer_avx2 : nullptr;
}
#else
constexpr int peer_accumulators = 1;
void (*peer_of(const InstructionSetLoops&))(long) { return nullptr; }
#endif

// One row of a comparison; whether the target was met. What was marked unstable may miss it.
bool row(const std::string& what, double ours, double theirs, const char* unit, double target,
         bool unstable = false) {
  const double difference = ours / theirs - 1;
  const bool met = unstable || std::abs(difference) <= target;
  fmt::print("  {:<22}{:>10.1f} {:>10.1f} {:<7}{:>+8.1f} %   {}\n", what, ours, theirs, unit,
             100 * difference,
             unstable ? "marked unstable"
             : met    ? ""
                      : fmt::format("missed: more than {:.0f} %", 100 * target));
  return met;
}

// `assembly`: what the widest peer reached, in GFLOPS.
bool compare_peaks(Team& team, double& assembly) {
  fmt::print("FMA peak, f64, one core: medians of {} turns\n  {:<22}{:>10} {:>10}\n", turns, "",
             "tcsim", "assembly");
  bool met = true;
  for (const auto* const* s = loops_here(); *s != nullptr; ++s) {
    const InstructionSetLoops& set = **s;
    auto* const peer = peer_of(set);
    if (peer == nullptr) continue;
    Work ours, theirs;
    ours.run = [&](int, long n) { set.f64.independent(n); };
    theirs.run = [&](int, long n) { peer(n); };
    Timed our, their;
    for (int turn = 0; turn < turns; ++turn) {
      our += time_work(team, 1, ours, {}, {});
      their += time_work(team, 1, theirs, {}, {});
    }
    const double flops = 2 * set.vector_bits / 64.0 * 1e-9;
    const double theirs_reached = flops * peer_accumulators / median(numbers(their.units));
    if (assembly == 0) assembly = theirs_reached;
    met &= row(set.name, flops * accumulators / median(numbers(our.units)), theirs_reached,
               "GFLOPS", peak_target);
  }
  return met;
}

struct PeerRate {
  double bytes_per_second = 0;
  Bytes working_set;
};

// One run of likwid-bench on a processor; nothing where it is not installed or does not have the
// loop.
std::optional<PeerRate> likwid(const std::string& loop, int cpu) {
  // taskset in place of likwid's own pinning, whose numbers depend on its own topology.
  const std::string command = fmt::format(
      "taskset -c {} likwid-bench -t {} -i {} -w N:16kB:1 2>/dev/null", cpu, loop, peer_passes);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return {};
  PeerRate rate;
  char line[256];
  while (std::fgets(line, sizeof(line), pipe.get()) != nullptr) {
    double value = 0;
    if (std::sscanf(line, "MByte/s: %lf", &value) == 1) rate.bytes_per_second = value * 1e6;
    long size = 0;
    if (std::sscanf(line, "Size (Byte): %ld", &size) == 1) rate.working_set = Bytes(size);
  }
  if (rate.bytes_per_second <= 0 || rate.working_set < Bytes(loop_step)) return {};
  return rate;
}

bool compare_loads(Team& team, int cpu) {
  fmt::print(
      "\nLoad-only bandwidth in L1, f64, one core: median, and upper quartile of {} turns\n  "
      "{:<22}{:>10} {:>10}\n",
      turns, "", "tcsim", "likwid");
  bool met = true;
  for (const auto* const* s = loops_here(); *s != nullptr; ++s) {
    const InstructionSetLoops& set = **s;
    const std::string loop = set.vector_bits == 512   ? "load_avx512"
                             : set.vector_bits == 256 ? "load_avx"
                                                      : "load_sse";
    std::vector<Block> blocks;
    blocks.emplace_back(block_for(Bytes(1 << 16)));
    std::vector<double> our, their;
    Bytes working_set;
    for (int turn = 0; turn < turns; ++turn) {
      const auto peer = likwid(loop, cpu);
      if (!peer) break;
      working_set = peer->working_set;
      their.push_back(peer->bytes_per_second);
      Work work = stream_work(AccessMix::load, set.f64, working_set, blocks);
      for (BytesPerSecond r : stream_rates(AccessMix::load, 1, time_work(team, 1, work, {}, {}))) {
        our.push_back(r.value());
      }
    }
    if (their.empty()) {
      fmt::print("  {:<22}likwid-bench is not installed, or has no {}\n", set.name, loop);
      continue;
    }
    // likwid-bench cannot leave out what the kernel disturbed; its better turns were left alone.
    met &= row(fmt::format("{} on {}", loop, to_text(working_set)), median(our) / 1e9,
               quantile(their, 0.75) / 1e9, "GB/s", load_target);
  }
  return met;
}

bool compare_probes(bool full, double assembly) {
  ProbeOptions options;
  options.quick = !full;
  const Probed a = probe_host(options), b = probe_host(options);
  fmt::print("\nTwo {} probes, load-fma-store on one core\n  {:<22}{:>10} {:>10}\n",
             full ? "full" : "quick", "", "first", "second");
  bool met = true;
  const Hertz fa = a.machine.core.frequency.value, fb = b.machine.core.frequency.value;
  for (std::size_t l = 0; l < a.machine.levels.size(); ++l) {
    const Level &x = a.machine.levels[l], &y = b.machine.levels[l];
    const bool unstable = a.figures[l].unstable || b.figures[l].unstable;
    met &= row(x.name, x.bandwidth.value.at(fa).value() / 1e9,
               y.bandwidth.value.at(fb).value() / 1e9, "GB/s", probe_target, unstable);
  }
  for (std::size_t l = 0; l < a.machine.levels.size(); ++l) {
    const Level &x = a.machine.levels[l], &y = b.machine.levels[l];
    const bool unstable = a.measured.latencies[l].unstable || b.measured.latencies[l].unstable;
    met &= row(x.name + " latency", x.latency->value.value(), y.latency->value.value(), "cycles",
               probe_target, unstable);
  }
  met &= row("FMA peak f64", a.machine.peak(Bytes(8)).value() / 1e9,
             b.machine.peak(Bytes(8)).value() / 1e9, "GFLOPS", probe_target);
  if (assembly == 0) return met;
  fmt::print("\nThe first probe's FMA peak, f64\n  {:<22}{:>10} {:>10}\n", "", "probe", "assembly");
  return met & row(a.measured.instruction_set, a.machine.peak(Bytes(8)).value() / 1e9, assembly,
                   "GFLOPS", peak_target);
}

}  // namespace

int main(int argc, char** argv) {
  const bool full = argc > 1 && std::strcmp(argv[1], "--full") == 0;
  if (argc > 1 && !full) {
    fmt::print(stderr, "usage: probe_peer [--full]\n");
    return 2;
  }
  const int cpu = allowed_cpus().front();
  bool met = true;
  double assembly = 0;
  {
    Team team({cpu});
    met &= compare_peaks(team, assembly);
    met &= compare_loads(team, cpu);
  }
  met &= compare_probes(full, assembly);
  fmt::print("\n{}\n", met ? "every target met" : "some target missed");
  return met ? 0 : 1;
}
