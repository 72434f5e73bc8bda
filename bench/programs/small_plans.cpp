// What planning a small contraction takes, and what it costs: contractions at random that the first
// cache has room for, f64, planned as a Contractor plans them and by optimize(), each run again and
// again, in turns.
//   bench_small_plans [SEED [NUMBER]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/optimize/optimize.hpp"
#include "core/optimize/quick.hpp"
#include "core/statistics.hpp"
#include "kernels/contract.hpp"
#include "tests/core/small_contraction.hpp"

namespace {

using namespace tcsim;
using Clock = std::chrono::steady_clock;

template <class Work>
double microseconds_of(const Work& work) {
  const Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::stoull(argv[1]) : std::random_device{}();
  const std::size_t number = argc > 2 ? std::stoul(argv[2]) : 200;
  std::mt19937_64 random(seed);
  const Machine machine = assumed_machine();
  std::vector<double> planning, searching, ratios;
  double worst = HUGE_VAL;
  std::string of_worst;
  while (ratios.size() < number) {
    const Contraction c = test::small_contraction(random);
    if (c.type() != ElementType::f64 || !fits_first_cache(c, machine)) continue;
    std::vector<double> a(8192, 1), b(8192, 1), to(8192);
    Contractor<double> planned(c, 1, machine);
    planning.push_back(microseconds_of([&] { planned = Contractor<double>(c, 1, machine); }));
    Schedule best;
    searching.push_back(
        microseconds_of([&] { best = optimize(c, machine, for_running()).schedule; }));
    Contractor<double> searched(c, best);
    const auto calls = [&](Contractor<double>& one) {
      return microseconds_of([&] {
        for (int i = 0; i < 200; ++i) one(a.data(), b.data(), to.data());
      });
    };
    double quick = HUGE_VAL, slow = HUGE_VAL;
    for (int turn = 0; turn < 7; ++turn) {
      quick = std::min(quick, calls(planned));
      slow = std::min(slow, calls(searched));
    }
    ratios.push_back(slow / quick);
    if (ratios.back() >= worst) continue;
    worst = ratios.back();
    of_worst = fmt::format("{} {} {}: {} for {}", c.label(), c.sizes(), to_text(c.layout()),
                           to_line(planned.schedule(), c), to_line(best, c));
  }
  double logarithms = 0;
  for (double r : ratios) logarithms += std::log(r);
  const double mean = std::exp(logarithms / static_cast<double>(number));
  const double longest = std::ranges::max(planning);
  fmt::print("seed {}, {} contractions\n", seed, number);
  fmt::print(
      "planned and prepared in {:.1f} us (median, the longest {:.1f}); searched in {:.0f} us\n",
      median(std::move(planning)), longest, median(std::move(searching)));
  fmt::print(
      "runs {:.2f} times as fast as what is searched (geometric mean), the worst {:.2f}:\n{}\n",
      mean, worst, of_worst);
}
