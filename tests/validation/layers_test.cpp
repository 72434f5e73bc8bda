// Layers of convolutions that nobody tuned to, drawn anew each time: the optimizer's schedules for
// three machines, predicted against simulated. TCSIM_LAYERS says how many layers, TCSIM_SEED draws
// the same ones again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/request.hpp"
#include "sim/simulate.hpp"
#include "tests/core/large_problems.hpp"

namespace tcsim {
namespace {

// Of 3 to 100 million multiply-adds.
Contraction random_layer(test::Random& random) {
  for (;;) {
    const std::int64_t filter = random.pick(std::vector<std::int64_t>{1, 1, 2, 3, 3, 3, 4, 5, 7});
    const std::int64_t groups = random.pick(std::vector<std::int64_t>{1, 1, 1, 1, 2, 8, 16});
    const auto channels = [&] { return groups * random.between(1, 300 / groups); };
    const std::string sizes = fmt::format(
        "n={},k={},c={},h={},w={},r={},s={},stride={},dilation={},groups={},layout={}",
        random.pick(std::vector{1, 1, 2, 4}), channels(), channels(), random.between(5, 120),
        random.between(5, 120), filter, filter, random.pick(std::vector{1, 1, 1, 2, 3}),
        random.pick(std::vector{1, 1, 1, 2}), groups, random.chance(50) ? "nchw" : "nhwc");
    Contraction c = find_workload({"conv2d", sizes, {}, {}});
    if (c.flops() >= 6e6 && c.flops() <= 2e8) return c;
  }
}

TEST(Layers, Fresh_random_ones_are_predicted_closely) {
  const char* given = std::getenv("TCSIM_SEED");
  const char* count = std::getenv("TCSIM_LAYERS");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  std::vector<Contraction> layers;
  for (int i = count != nullptr ? std::atoi(count) : 8; i > 0; --i) {
    layers.push_back(random_layer(random));
  }
  for (const char* name : {"e5-2680v4", "i7-6700k", "zen5"}) {
    const Machine machine = find_machine(name);
    std::vector<double> errors;
    double worst = 0;
    std::string of_worst;
    for (const Contraction& c : layers) {
      const Optimized o = optimize(c, machine);
      EXPECT_GE(o.certificate.gap, -1e-9) << c.label() << ' ' << c.sizes();
      const Traffic simulated =
          simulate(Plan(c, o.schedule), sim::system_of(machine), {}).traffic;
      for (std::size_t l = 1; l < machine.levels.size(); ++l) {
        const auto bytes = [&](const Traffic& t) {
          return static_cast<double>(t.links[l].counted(machine.accounting).value());
        };
        errors.push_back(std::abs(bytes(o.prediction.traffic) / bytes(simulated) - 1));
        if (errors.back() < worst) continue;
        worst = errors.back();
        of_worst = fmt::format("{}  {}  {}  {}", c.label(), c.sizes(),
                               machine.link(LevelId{static_cast<int>(l)}),
                               to_line(o.schedule, c));
      }
    }
    std::sort(errors.begin(), errors.end());
    fmt::print("{}: {} links, median {:.2f} %, 90th percentile {:.1f} %, worst {:.0f} %\n", name,
               errors.size(), 100 * errors[errors.size() / 2],
               100 * errors[errors.size() * 9 / 10], 100 * errors.back());
    fmt::print("  worst: {}\n", of_worst);
    // Far from what it is, near enough to catch a mistake.
    EXPECT_LT(errors[errors.size() / 2], 0.15);
  }
}

}  // namespace
}  // namespace tcsim
