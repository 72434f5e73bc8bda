// How near the executor comes to what the machine allows: every contraction of a suite against the
// multiply-add peak and against the limit, the larger of the computation at that peak and the
// compulsory traffic (A, B and C, C also written) at memory's bandwidth. One core, cold caches.
// Peak and bandwidth are measured around every repetition, so that what disturbs one disturbs the
// other; times are of the thread's own processor time, since a shared machine takes it away.
//
//     bench_executor [--case WORKLOAD]... [--schedule FILE] [--repetitions N]
//
// --case takes tccg:8 or tccg (the default); a schedule replaces the optimizer's.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/machine/library.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/plan.hpp"
#include "core/workload/suite.hpp"
#include "kernels/execute.hpp"
#include "microbench/host.hpp"
#include "microbench/loops.hpp"
#include "microbench/memory.hpp"
#include "microbench/statistics.hpp"

namespace {

using namespace tcsim;

double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

const ElementLoops& loops_for(ElementType type) {
  const InstructionSetLoops& widest = **loops_here();
  return type == ElementType::f64 ? widest.f64 : widest.f32;
}

// Multiply-adds on registers, flops per second.
double peak(ElementType type) {
  constexpr long rounds = 400'000;
  const InstructionSetLoops& widest = **loops_here();
  const double lanes = widest.vector_bits / 8.0 / static_cast<double>(size_of(type).value());
  const double begin = now();
  loops_for(type).independent(rounds);
  return 2 * lanes * accumulators * rounds / (now() - begin);
}

// Load-FMA-Store over what no cache holds: bytes read and written per second.
class MemoryBandwidth {
 public:
  MemoryBandwidth() : block_(Bytes(size_)) {}

  double operator()() {
    const double begin = now();
    loops_for(ElementType::f64).load_fma_store(block_.data(), size_, 1);
    return 2.0 * size_ / (now() - begin);
  }

 private:
  static constexpr long size_ = 128L << 20;
  Block block_;
};

struct Figures {
  double peak_share = 0, limit_share = 0, gflops = 0, spread = 0;
  double peak_gflops = 0, bandwidth = 0;
  std::string kernel;
  bool correct = false;
};

Figures measure(const Contraction& c, const Schedule& schedule, int repetitions,
                MemoryBandwidth& bandwidth) {
  const Plan plan(c, schedule);
  double traffic = 0;
  for (TensorId t : {TensorId::A, TensorId::B, TensorId::C, TensorId::C}) {
    traffic += static_cast<double>(c.size(t).value() * size_of(c.type()).value());
  }
  std::vector<double> of_peak, of_limit, rates, peaks, bandwidths;
  double began = 0;
  const RunResult r = run(plan, repetitions, 1, {}, [&](const auto& work) {
    const double bytes = bandwidth(), before = peak(c.type());
    began = now();
    work();
    const double seconds = now() - began;
    const double top = std::max(before, peak(c.type()));
    rates.push_back(c.flops() / seconds);
    peaks.push_back(top);
    bandwidths.push_back(bytes);
    of_peak.push_back(rates.back() / top);
    of_limit.push_back(std::max(c.flops() / top, traffic / bytes) / seconds);
  });
  return {median(of_peak),
          median(of_limit),
          median(rates) / 1e9,
          relative_spread(of_limit),
          median(peaks) / 1e9,
          median(bandwidths) / 1e9,
          r.kernel,
          r.check.ok()};
}

std::vector<Contraction> workloads(const std::string& name) {
  const auto colon = name.find(':');
  const Suite suite = find_suite(name.substr(0, colon));
  if (colon == std::string::npos) return suite.workloads;
  return {suite.workloads.at(static_cast<std::size_t>(std::stoi(name.substr(colon + 1)) - 1))};
}

Schedule read_schedule(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return parse_schedule(text.str(), file);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Contraction> cases;
  std::string schedule_file;
  int repetitions = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--case") {
      for (const Contraction& c : workloads(value)) cases.push_back(c);
    } else if (option == "--schedule") {
      schedule_file = value;
    } else if (option == "--repetitions") {
      repetitions = std::stoi(value);
    } else {
      fmt::print(stderr, "unknown option {}\n", option);
      return 2;
    }
  }
  if (cases.empty()) cases = workloads("tccg");

  const Machine machine = host_machine();
  MemoryBandwidth bandwidth;
  double log_limit = 0, log_peak = 0;
  fmt::print("{:<9}{:<18}{:>8}{:>8}{:>8}{:>8}{:>9}{:>8}  {}\n", "", "", "GFLOPS", "% peak",
             "% limit", "spread", "peak", "GB/s", "kernel");
  bool correct = true;
  for (const Contraction& c : cases) {
    const Schedule schedule =
        schedule_file.empty() ? optimize(c, machine).schedule : read_schedule(schedule_file);
    const Figures f = measure(c, schedule, repetitions, bandwidth);
    fmt::print("{:<9}{:<18}{:>8.1f}{:>8.1f}{:>8.1f}{:>8.1f}{:>9.1f}{:>8.1f}  {}{}\n", c.name(),
               c.label(), f.gflops, 100 * f.peak_share, 100 * f.limit_share, 100 * f.spread,
               f.peak_gflops, f.bandwidth, f.kernel, f.correct ? "" : "  WRONG");
    std::fflush(stdout);
    log_limit += std::log(f.limit_share);
    log_peak += std::log(f.peak_share);
    correct = correct && f.correct;
  }
  const auto mean = [&](double sum) {
    return 100 * std::exp(sum / static_cast<double>(cases.size()));
  };
  fmt::print("geometric mean: {:.1f} % of peak, {:.1f} % of the limit\n", mean(log_peak),
             mean(log_limit));
  return correct ? 0 : 1;
}
