// How long the optimizer takes, and how near its answers are to the proven bound: all of TCCG from
// nothing, and again for a machine that differs a little, begun from what was found before.
//
//     build/release/bench/programs/bench_optimize [MACHINE...]     e5-2680v4, i7-6700k if none is
//     named
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/suite.hpp"

namespace {

using namespace tcsim;

constexpr int repetitions = 5;

// Milliseconds, the median of `repetitions`; `prepare` is not timed.
template <class Prepare, class Work>
double median_ms(Prepare&& prepare, Work&& work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    auto input = prepare();
    const auto begin = std::chrono::steady_clock::now();
    work(input);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
  return times[repetitions / 2];
}

// What a window does while a slider moves: the incumbent and the set counts of the machine before.
double warm_ms(const Contraction& c, const Machine& before, const Machine& after) {
  return median_ms(
      [&] {
        auto counts = std::make_unique<SharedCounts>();
        OptimizeOptions options;
        options.counts = counts.get();
        options.incumbents = {optimize(c, before, options).incumbent()};
        return std::pair{std::move(counts), options};
      },
      [&](auto& input) { optimize(c, after, input.second); });
}

void measure(const Machine& machine) {
  fmt::print("{}\n  {:<24}{:>8}{:>10}{:>9}{:>14}{:>16}\n", machine.name, "", "gap", "tilings", "ms",
             "L3 x2, ms", "memory x1.1, ms");
  const Machine larger = override_knob(machine, "L3.capacity=2x").machine;
  const Machine faster = override_knob(machine, "memory.bandwidth=1.1x").machine;
  double sum = 0, worst = 0, worst_gap = 0, worst_warm = 0;
  for (const Contraction& c : find_suite("tccg").workloads) {
    const Optimized o = optimize(c, machine);
    const double ms = median_ms([] { return 0; }, [&](int) { optimize(c, machine); });
    const double capacity = warm_ms(c, machine, larger), bandwidth = warm_ms(c, machine, faster);
    fmt::print("  {:<8}{:<16}{:>7.3f}%{:>9}{:>9.1f}{:>14.2f}{:>16.2f}\n", c.name(), c.label(),
               100 * o.certificate.gap, o.evaluated, ms, capacity, bandwidth);
    sum += ms;
    worst = std::max(worst, ms);
    worst_gap = std::max(worst_gap, o.certificate.gap);
    worst_warm = std::max({worst_warm, capacity, bandwidth});
  }
  fmt::print(
      "  all {:.2f} s (target 1 s), slowest {:.1f} ms (20 ms), slowest warm {:.2f} ms (2 ms), "
      "widest gap {:.2f} % (1 %)\n\n",
      sum / 1000, worst, worst_warm, 100 * worst_gap);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"e5-2680v4", "i7-6700k"};
  for (const std::string& name : names) measure(find_machine(name));
}
