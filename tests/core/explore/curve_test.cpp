// Curves along knobs, crossovers, elasticities.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/explore/curve.hpp"
#include "core/explore/elasticity.hpp"
#include "core/explore/verdict.hpp"
#include "core/machine/toml.hpp"
#include "core/workload/suite.hpp"
#include "tests/core/build.hpp"
#include "tests/core/machine_files.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/draws.hpp"

namespace tcsim {
namespace {

// 6 multiply-adds of a 2 x 3 kernel load 5 elements; C is stored once. Everything fits L1, so
// memory moves A, B and C once and C back.
const char* const unblocked = "groups m=j n=i k=k for n by 3 { for m by 2 { kernel 2x3 } }";

Machine two_levels(double l1, double memory) {
  Machine m = test::machine({{1, 1024}});
  m.levels[0].bandwidth.value.value = l1;
  m.levels[1].bandwidth.value.value = memory;
  m.accounting.compute_roof = false;
  return m;
}

// 12 x 12 x 16: over L1-register 12 x 12 x 16 x 5 / 6 loads and 144 stores, 2064 elements, 16512
// bytes; over L1-memory A and B of 12 x 16 x 8 = 1536 bytes each, C of 1152 bytes in and out: 5376
// bytes. At 8 and 1 B/cycle that is 2064 and 5376 cycles; they cross at 5376 / 2064 times.
TEST(Curve, A_crossover_of_a_fixed_schedule_is_where_both_links_take_as_long) {
  const Contraction c = test::matmul(12, 12, 16);
  const Schedule schedule = test::schedule(unblocked);
  const Machine m = two_levels(8, 1);
  ExploreOptions options;
  options.fixed = &schedule;
  const Curve curve =
      tcsim::curve(c, m, parse_knob_range(m, "memory.bandwidth=0.5x..8x:3"), options);
  EXPECT_NEAR(curve.base.choice.time().value(), 5376e-9, 1e-15);
  ASSERT_EQ(curve.crossovers.size(), 1u);
  const Crossover& x = curve.crossovers[0];
  EXPECT_NEAR(x.factor, 5376.0 / 2064, 1e-9);
  EXPECT_EQ(x.knob, "memory.bandwidth");
  EXPECT_EQ(x.from, "L1-memory");
  EXPECT_EQ(x.to, "L1-register");
  EXPECT_TRUE(x.packing.empty());  // this accounting counts packing
  ASSERT_EQ(curve.points.size(), 3u);
  EXPECT_NEAR(curve.points[0].choice.time().value(), 2 * 5376e-9, 1e-15);
  EXPECT_EQ(curve.points[2].bottleneck, "L1-register");
  EXPECT_NEAR(curve.points[2].choice.time().value(), 2064e-9, 1e-15);
}

// 8x6 is 4 x 6 vectors of two doubles, more than 16 registers hold.
TEST(Curve, A_fixed_schedule_leaves_out_cores_whose_registers_do_not_hold_its_kernel) {
  const Contraction c = test::matmul(24, 24, 16);
  const Schedule schedule =
      test::schedule("groups m=j n=i k=k for n by 6 { for m by 8 { kernel 8x6 } }");
  const Machine m = two_levels(8, 1);
  ExploreOptions options;
  options.fixed = &schedule;
  const KnobRange bits = parse_knob_range(m, "core.vector_bits=128,256,512");
  const Curve along = tcsim::curve(c, m, bits, options);
  ASSERT_EQ(along.points.size(), 2u);
  EXPECT_EQ(along.points[0].value, 256);
  EXPECT_EQ(along.remark,
            "core.vector_bits leaves out 128: 'kernel 8x6' needs 29 vector registers of 128 bits "
            "for f64, and test has 16");
  const Plane both = plane(c, m, bits, parse_knob_range(m, "memory.bandwidth=1x,2x"), options);
  EXPECT_FALSE(both.points[0].choice);
  EXPECT_EQ(both.points[0].remark, "the core has too few registers for the schedule's kernel");
  EXPECT_TRUE(both.points[2].choice);
  for (const Elasticity& e : elasticities(c, m, options).knobs) {
    if (e.knob.name != "core.vector_bits") continue;
    EXPECT_FALSE(e.down);
    EXPECT_TRUE(e.up);
  }
}

// The same with links equally slow: a kink. More of either gains nothing, less of either costs.
TEST(Elasticity, At_a_kink_the_two_sides_differ) {
  const Contraction c = test::matmul(12, 12, 16);
  const Schedule schedule = test::schedule(unblocked);
  const Machine m = two_levels(8, 8 * 5376.0 / 16512);
  ExploreOptions options;
  options.fixed = &schedule;
  const Elasticities all = elasticities(c, m, options);
  for (const Elasticity& e : all.knobs) {
    SCOPED_TRACE(e.knob.name);
    if (e.knob.name.ends_with("bandwidth")) {
      EXPECT_NEAR(e.up->factor, 1.01, 1e-12);
      EXPECT_EQ(e.up->elasticity, 0);
      EXPECT_NEAR(e.down->elasticity, -1, 1e-9);
      EXPECT_NEAR(e.down->time / all.base.time(), 1.01, 1e-9);
    } else if (e.knob.name == "core.frequency") {  // both links run on its clock
      EXPECT_NEAR(e.up->elasticity, -1, 1e-9);
    } else if (e.knob.name == "core.cores") {
      EXPECT_EQ(e.up->value, 2);
      EXPECT_FALSE(e.down);
    } else if (e.knob.name == "caches.line") {
      EXPECT_EQ(e.up->factor, 2);
      EXPECT_EQ(e.down->factor, 0.5);
    } else {
      EXPECT_EQ(e.up->elasticity, 0) << e.up->factor;
    }
  }
  EXPECT_EQ(all.knobs.size(), 9u);  // three of L1, memory's bandwidth, the line, four of the core
}

// Above 2^20 multiply-adds, where a search takes milliseconds.
Contraction some_contraction(test::Random& random) {
  const auto extent = [&] { return random.between(100, 200); };
  return test::matmul(extent(), extent(), extent(),
                      random.chance(50) ? Layout::row_major : Layout::column_major);
}

Machine some_machine(test::Random& random, bool associative) {
  std::vector<test::CacheSpec> caches;
  std::int64_t lines = random.between(32, 128);
  for (std::int64_t l = 0, n = random.between(1, 2); l < n; ++l) {
    const std::int64_t ways = associative ? lines : random.between(2, 8);
    caches.push_back({std::max<std::int64_t>(1, lines / ways), ways});
    lines = caches.back().sets * ways * random.between(2, 8);
  }
  Machine m = test::machine(caches);
  double rate = 32;
  for (Level& l : m.levels) {
    l.bandwidth.value.value = rate;
    rate /= static_cast<double>(random.between(10, 40)) / 10;
  }
  m.core.fma_per_cycle.value = static_cast<double>(random.between(2, 8)) / 2;
  m.accounting.compute_roof = random.chance(50);
  return m;
}

// Better machines are never slower: strictly where caches are fully associative or a bandwidth
// grows; with sets, new ones may make lines collide that did not.
TEST(Curve_property, Never_rises_with_a_better_machine_and_crossovers_chain) {
  constexpr std::uint64_t seed = 41;
  SCOPED_TRACE("seed 41");
  test::Random random(seed);
  int crossed = 0;
  for (int trial = 0; trial < test::draws(16); ++trial) {
    const bool associative = random.chance(60);
    const Contraction c = some_contraction(random);
    const Machine m = some_machine(random, associative);
    const std::vector<Knob> knobs = all_knobs(m);
    std::vector<std::string> better;
    for (const Knob& k : knobs) {
      if (k.sense == Sense::better && k.name != "core.fma_per_cycle") better.push_back(k.name);
    }
    const std::string knob = better[static_cast<std::size_t>(
        random.between(0, static_cast<std::int64_t>(better.size()) - 1))];
    SCOPED_TRACE(fmt::format("trial {}: {} {}", trial, c.sizes(), knob));
    const Curve curve = tcsim::curve(c, m, parse_knob_range(m, knob + "=0.1x..10x:6"));
    ASSERT_FALSE(curve.points.empty());
    const double slack = knob.ends_with("capacity") && !associative ? 1.01 : 1 + 1e-8;
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      EXPECT_LE(curve.points[i].choice.time().value(),
                curve.points[i - 1].choice.time().value() * slack)
          << "point " << i;
    }
    std::string now = curve.points.front().bottleneck;
    double last = 0;
    for (const Crossover& x : curve.crossovers) {
      EXPECT_EQ(x.from, now);
      EXPECT_GT(x.value, last);
      EXPECT_GE(x.value, curve.points.front().value);
      EXPECT_LE(x.value, curve.points.back().value);
      now = x.to;
      last = x.value;
      ++crossed;
    }
    EXPECT_EQ(now, curve.points.back().bottleneck);
  }
  EXPECT_GE(crossed, test::found(6));
}

// A range of two points with both ends far apart finds what a fine one finds.
TEST(Curve, Finds_several_crossovers_between_two_points) {
  const Contraction c = parse_contraction("ij-ki-jk", {{'i', 64}, {'j', 64}, {'k', 64}},
                                          Layout::row_major, ElementType::f64);
  Machine m = test::machine({{1, 64}, {1, 512}});
  m.levels[0].bandwidth.value.value = 8;
  m.levels[1].bandwidth.value.value = 4;
  m.levels[2].bandwidth.value.value = 1;
  m.accounting.compute_roof = false;
  const Curve coarse = curve(c, m, parse_knob_range(m, "L2.capacity=4KiB..40KiB:2"));
  const Curve fine = curve(c, m, parse_knob_range(m, "L2.capacity=4KiB..40KiB:20"));
  EXPECT_GE(fine.crossovers.size(), 2u);
  ASSERT_EQ(coarse.crossovers.size(), fine.crossovers.size());
  for (std::size_t i = 0; i < fine.crossovers.size(); ++i) {
    EXPECT_EQ(coarse.crossovers[i].to, fine.crossovers[i].to);
  }
}

TEST(Curve, Stopped_it_gives_the_points_that_it_has) {
  const Contraction c = test::matmul(40, 40, 40);
  const Machine m = two_levels(8, 1);
  std::stop_source stop;
  ExploreOptions options;
  options.stop = stop.get_token();
  int reports = 0;
  options.progress = [&](double) {
    if (++reports == 3) stop.request_stop();
  };
  const KnobRange range = parse_knob_range(m, "memory.bandwidth=0.1x..4x:9");
  const Curve curve = tcsim::curve(c, m, range, options);
  EXPECT_FALSE(curve.complete);
  EXPECT_EQ(curve.points.size(), 3u);
  // Where there is nothing yet, nothing is returned.
  EXPECT_THROW(tcsim::curve(c, m, range, options), Interrupted);
  EXPECT_THROW(elasticities(c, m, options), Interrupted);
}

TEST(Plane, Has_every_pair_and_says_which_machines_cannot_be) {
  const Contraction c = test::matmul(12, 12, 16);
  const Schedule schedule = test::schedule(unblocked);
  const Machine m = two_levels(8, 1);
  ExploreOptions options;
  options.fixed = &schedule;
  const Plane p = plane(c, m, parse_knob_range(m, "L1.bandwidth=0.25x,1x", 2, Ends::as_given),
                        parse_knob_range(m, "memory.bandwidth=1x,4x", 2, Ends::as_given), options);
  ASSERT_EQ(p.points.size(), 4u);
  EXPECT_EQ(p.points[0].values[0], 2);
  EXPECT_EQ(p.points[0].values[1], 1);
  EXPECT_EQ(p.points[0].bottleneck, "L1-register");  // 8256 and 5376 cycles
  EXPECT_FALSE(p.points[1].choice);                  // 2 B/cycle inside 4
  EXPECT_EQ(p.points[1].remark, "memory (4B/cycle) is faster than L1 inside it (2B/cycle)");
  EXPECT_EQ(p.points[2].bottleneck, "L1-memory");
  EXPECT_EQ(p.points[3].bottleneck, "L1-register");
  EXPECT_NEAR(p.points[3].choice->time().value(), 2064e-9, 1e-15);
}

TEST(Plane_property, Never_rises_with_a_better_machine) {
  SCOPED_TRACE("seed 8");
  test::Random random(8);
  for (int trial = 0; trial < 6; ++trial) {
    const Contraction c = some_contraction(random);
    const Machine m = some_machine(random, true);
    SCOPED_TRACE(fmt::format("trial {}: {}", trial, c.sizes()));
    const Plane p = plane(c, m, parse_knob_range(m, "L1.capacity=0.5x..2x:3"),
                          parse_knob_range(m, "memory.bandwidth=0.5x..2x:3"));
    for (const PlanePoint& a : p.points) {
      for (const PlanePoint& b : p.points) {
        if (!a.choice || !b.choice) continue;
        if (b.values[0] < a.values[0] || b.values[1] < a.values[1]) continue;
        EXPECT_LE(b.choice->time().value(), a.choice->time().value() * (1 + 1e-8));
      }
    }
  }
}

class Paper : public machine_files::MachineFiles {
 protected:
  // abcdef-degb-gfac, number 29 of acmtc-sc19's Table 4.
  static Contraction contraction() { return find_suite("tccg").workloads[28]; }
  static Machine machine(const Accounting& accounting) {
    Machine m = find_machine("e5-2680v4");
    m.accounting = accounting;
    return m;
  }
};

// acmtc-sc19, 6.3: "if the Memory bandwidth is increased by 5%, the performance (GFLOPS) will also
// increase by 5%. It also predicts that increasing memory bandwidth beyond 21% will change the
// bottleneck to L1-to-Register bandwidth. On the other hand, if we increase the L3 cache size, our
// model predicts that the performance will not improve."
//
// Memory: 4718592 lines of C, 18432 each of A and B (Table 2's 4.76E6) at 6.08 B/cycle, 50057432
// cycles. Registers: 905969664 multiply-adds x 14 / 48 elements x 8 B / 2 at 25.28 B/cycle,
// 41810309 cycles. Their ratio is 1.19725; with another 36864 lines that packing reads 1.20653, and
// with as many that it writes 1.21581.
TEST_F(Paper, Example_of_section_6_3_comes_out) {
  const Contraction c = contraction();
  const Machine m = machine(Accounting::paper());
  const Curve memory = curve(c, m, parse_knob_range(m, "memory.bandwidth=1x,1.05x,1.5x"));
  EXPECT_EQ(memory.base.bottleneck, "L3-memory");
  EXPECT_NEAR(memory.base.choice.time().value() * 2.4e9, 50057432, 1);
  ASSERT_EQ(memory.points.size(), 3u);
  EXPECT_NEAR(
      memory.points[1].choice.prediction.rate.value() / memory.base.choice.prediction.rate.value(),
      1.05, 1e-9);
  ASSERT_EQ(memory.crossovers.size(), 1u);
  const Crossover& x = memory.crossovers[0];
  EXPECT_EQ(x.from, "L3-memory");
  EXPECT_EQ(x.to, "L1-register");
  EXPECT_NEAR(x.factor, 1.19725, 1e-5);
  ASSERT_EQ(x.packing.size(), 3u);
  EXPECT_NEAR(x.packing[0].factor, 1.19725, 1e-5);
  EXPECT_NEAR(x.packing[1].factor, 1.20653, 1e-5);
  EXPECT_NEAR(x.packing[2].factor, 1.21581, 1e-5);

  const Curve l3 = curve(c, m, parse_knob_range(m, "L3.capacity=1x,2x,8x"));
  for (const CurvePoint& p : l3.points) {
    EXPECT_NEAR(p.choice.time() / memory.base.choice.time(), 1, 1e-9);
  }
  const Elasticities all = elasticities(c, m);
  ASSERT_FALSE(strongest(all).empty());
  EXPECT_EQ(strongest(all)[0]->knob.name, "memory.bandwidth");
  EXPECT_NEAR(strongest(all)[0]->up->elasticity, -1, 1e-6);
  EXPECT_EQ(help_words(m, all, next_crossover(c, m, all), larger_caches(c, m, all)),
            "+1.0 % memory bandwidth brings +1.0 % GFLOPS; +19.7 % (7.279B/cycle) moves the "
            "bottleneck to L1-register. A larger L1, L2 or L3 changes nothing (tried to 4 times).");
}

// 2 x 905969664 flops at 38.4 GFLOPS.
TEST_F(Paper, Example_is_bound_by_compute_in_honest_accounting) {
  const Contraction c = contraction();
  const Machine m = machine(Accounting::honest());
  const Elasticities all = elasticities(c, m);
  EXPECT_EQ(all.bottleneck, "compute");
  EXPECT_NEAR(all.base.time().value(), 2 * 905969664 / 38.4e9, 1e-9);
  const auto next = next_crossover(c, m, all);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->knob, "core.fma_per_cycle");
  EXPECT_EQ(next->to, "L3-memory");
  EXPECT_TRUE(roof_words(m, all.base)
                  .starts_with("Computing decides: 47.19 ms; the slowest "
                               "link, L3-memory, needs "));
}

}  // namespace
}  // namespace tcsim
