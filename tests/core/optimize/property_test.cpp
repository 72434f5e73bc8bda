// What must hold for any contraction on any machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/optimize/optimize.hpp"
#include "tests/core/build.hpp"
#include "tests/core/level_names.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/draws.hpp"

namespace tcsim {
namespace {

// 3 to 8 indices, extents of 1 to 400 as long as no tensor has more than 2^34 elements.
Contraction any_contraction(test::Random& random) {
  while (true) {
    std::string a, b, c;
    Sizes sizes;
    for (std::int64_t i = 0, n = random.between(3, 8); i < n; ++i) {
      const char name = static_cast<char>('a' + i);
      sizes[name] = random.chance(15) ? 1 : random.between(1, random.chance(50) ? 40 : 400);
      const std::int64_t cls = random.between(0, 9);  // batch is rare
      if (cls != 1 && cls != 4 && cls != 7) a += name;
      if (cls != 0 && cls != 3 && cls != 6) b += name;
      if (cls != 2 && cls != 5 && cls != 8) c += name;
    }
    const auto elements = [&](const std::string& indices) {
      double n = 1;
      for (char i : indices) n *= static_cast<double>(sizes[i]);
      return n;
    };
    if (a.empty() || b.empty()) continue;
    if (std::max({elements(a), elements(b), elements(c)}) > 0x1p34) continue;
    random.shuffle(a);
    random.shuffle(b);
    random.shuffle(c);
    return parse_contraction(a + "," + b + "->" + c, sizes,
                             random.chance(50) ? Layout::row_major : Layout::column_major,
                             random.chance(50) ? ElementType::f64 : ElementType::f32);
  }
}

Machine random_machine(test::Random& random, bool associative) {
  std::vector<test::CacheSpec> caches;
  std::int64_t lines = random.between(64, 1024);
  for (std::int64_t l = 0, n = random.between(1, 4); l < n; ++l) {
    const std::int64_t ways = associative ? lines : random.between(2, 20);
    caches.push_back({std::max<std::int64_t>(1, lines / ways), ways});
    lines = caches.back().sets * ways * random.between(2, 16);
  }
  Machine m = test::machine(caches);
  double rate = 64;
  for (Level& l : m.levels) {
    l.bandwidth.value.value = rate;
    l.energy = Figure<JoulesPerByte>{JoulesPerByte(1e-10 / rate), Origin::hypothetical, ""};
    rate /= static_cast<double>(random.between(10, 40)) / 10;
  }
  m.core.fma_per_cycle.value = static_cast<double>(random.between(1, 8)) / 2;
  m.accounting.compute_roof = random.chance(70);
  return m;
}

TEST(Optimize_property, Schedules_are_legal_and_not_below_the_bound) {
  test::Random random(2026);
  SCOPED_TRACE("seed 2026");
  for (int trial = 0; trial < test::draws(60); ++trial) {
    const Contraction c = any_contraction(random);
    const Machine m = random_machine(random, random.chance(30));
    SCOPED_TRACE(fmt::format("trial {}: {} {}", trial, c.name(), c.sizes()));
    OptimizeOptions options;
    options.dividing = random.chance(30);
    options.objective = random.pick<Objective>(
        {Objective::time, Objective::time, Objective::time, Objective::sum, Objective::energy});
    const Optimized o = optimize(c, m, options);
    EXPECT_NO_THROW(check(o.schedule, c, level_names(m), "optimizer"));
    EXPECT_GE(o.certificate.gap, -1e-9);
    EXPECT_NEAR(o.certificate.gap, o.certificate.achieved / o.certificate.relaxed_bound - 1, 1e-12);
    EXPECT_EQ(o.schedule, build(c, m, o.incumbent()));
    EXPECT_EQ(o.rewritten, o.schedule != build(c, m, o.tiling));
    if (!options.dividing) continue;
    EXPECT_FALSE(o.rewritten);
    for (std::size_t g = 0; g < 3; ++g) {
      for (std::size_t l = 1; l < o.tiling.tiles.size(); ++l) {
        EXPECT_EQ(o.tiling.tiles[l][g] % o.tiling.tiles[l - 1][g], 0);
      }
    }
  }
}

// A better machine, the incumbent carried along as sweeps do: never worse. Fully associative caches
// keep what smaller ones keep; with sets, more of them can make lines collide that did not before.
TEST(Optimize_property, A_better_machine_is_never_slower) {
  test::Random random(77);
  SCOPED_TRACE("seed 77");
  for (int trial = 0; trial < test::draws(40); ++trial) {
    const Contraction c = any_contraction(random);
    const bool associative = random.chance(60);
    Machine m = random_machine(random, associative);
    OptimizeOptions options;
    Optimized before = optimize(c, m, options);
    for (int step = 0; step < 3; ++step) {
      const auto l = static_cast<std::size_t>(random.between(0, m.cache_count() - 1));
      const bool grows = random.chance(60);
      if (grows) {  // this cache and all outside it
        for (std::size_t i = l; i + 1 < m.levels.size(); ++i) {
          Level& level = m.levels[i];
          if (associative) level.ways.value *= 2;
          level.capacity.value = Bytes(level.capacity.value.value() * 2);
        }
      } else {  // this link and all inside it
        for (std::size_t i = 0; i <= l; ++i) m.levels[i].bandwidth.value.value *= 1.25;
      }
      SCOPED_TRACE(fmt::format("trial {} step {}: {} {}, {} {}", trial, step, c.name(), c.sizes(),
                               m.levels[l].name, grows ? "doubled" : "1.25 times as fast"));
      options.incumbents = {before.incumbent()};
      const Optimized now = optimize(c, m, options);
      const double slack = grows && !associative ? 1.01 : 1 + 1e-9;
      EXPECT_LE(now.prediction.timing.total.value(),
                before.prediction.timing.total.value() * slack);
      before = now;
    }
  }
}

TEST(Optimize_property, Incumbents_are_never_lost) {
  test::Random random(5);
  SCOPED_TRACE("seed 5");
  for (int trial = 0; trial < 15; ++trial) {
    const Contraction c = any_contraction(random);
    const Machine m = random_machine(random, false);
    SCOPED_TRACE(fmt::format("trial {}: {} {}", trial, c.name(), c.sizes()));
    const Optimized first = optimize(c, m);
    OptimizeOptions options;
    options.incumbents = {first.incumbent()};
    SharedCounts counts;
    options.counts = &counts;
    EXPECT_LE(optimize(c, m, options).prediction.timing.total, first.prediction.timing.total);
  }
}

}  // namespace
}  // namespace tcsim
