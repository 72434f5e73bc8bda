// Throughput of a study's evaluation on one core, and what it gives away for that: points per
// second of processor time, and of a sample of points how far their times are from a search begun
// from nothing.
//
//     build/release/bench/programs/bench_sweep [MACHINE...]     e5-2680v4, i7-6700k, zen5 if none
//     is named
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "core/study/evaluate.hpp"

namespace {

using namespace tcsim;

// Of this thread.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Case {
  const char* name;
  const char* knobs;
};
constexpr Case cases[] = {
    {"L3 capacity, 64 values",
     "[[knob]]\nname = \"L3.capacity\"\nrange = \"2MiB..256MiB\"\npoints = 64\n"},
    {"memory bandwidth, 64 values",
     "[[knob]]\nname = \"memory.bandwidth\"\nrange = \"0.1x..1x\"\npoints = 64\n"},
    {"8 capacities x 16 bandwidths",
     "[[knob]]\nname = \"L3.capacity\"\nrange = \"2MiB..256MiB\"\npoints = 8\n"
     "[[knob]]\nname = \"memory.bandwidth\"\nrange = \"0.1x..1x\"\npoints = 16\n"},
};

void measure(const std::string& machine, const char* accounting, const Case& c) {
  const Study study = parse_study(
      fmt::format("schema = 1\nname = \"bench\"\nworkloads = [\"tccg\"]\nmachines = [\"{}\"]\n"
                  "accounting = \"{}\"\n{}",
                  machine, accounting, c.knobs),
      "bench", shipped_sources("bench"));
  Anchors anchors(study, {});
  Evaluator evaluator(study, anchors, {});
  const Chains chains(study);
  Designs designs(study);
  const std::int64_t workloads = std::ssize(study.workloads);
  const double begin = processor_seconds();
  std::vector<PointResult> points;
  for (std::int64_t i = 0; i < chains.size(); ++i) {
    for (PointResult& r : evaluator.evaluate(i).points) points.push_back(std::move(r));
  }
  const double seconds = processor_seconds() - begin;
  const auto searched =
      std::count_if(points.begin(), points.end(), [](const PointResult& r) { return r.searched; });
  double worst = 0, sum = 0;
  int sampled = 0;
  for (std::size_t i = 0; i < points.size(); i += 29) {
    LeftOut why;
    const auto d = designs.at(points[i].point / workloads, why);
    const auto w = static_cast<std::size_t>(points[i].point % workloads);
    const Optimized cold = optimize(study.workloads[w].contraction(), d->with);
    const double apart = points[i].predicted_seconds / cold.prediction.timing.total.value() - 1;
    worst = std::max(worst, apart);
    sum += apart;
    ++sampled;
  }
  fmt::print("  {:<12}{:<8}{:<30}{:>8}{:>10.0f}{:>10}{:>+10.2f} %{:>+10.2f} %\n", machine,
             accounting, c.name, points.size(), static_cast<double>(points.size()) / seconds,
             searched, 100 * sum / sampled, 100 * worst);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"e5-2680v4", "i7-6700k", "zen5"};
  fmt::print(
      "all of TCCG; first searches included; target 500 points/s\n"
      "  {:<12}{:<8}{:<30}{:>8}{:>10}{:>10}{:>12}{:>12}\n",
      "machine", "", "", "points", "points/s", "searched", "vs cold", "worst");
  for (const std::string& name : names) {
    for (const char* accounting : {"honest", "paper"}) {
      for (const Case& c : cases) measure(name, accounting, c);
    }
  }
}
