// The upper bound's schedule, run through caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stop_token>
#include <vector>

#include "core/bounds/curve.hpp"
#include "core/bounds/link_bounds.hpp"
#include "core/bounds/upper_schedule.hpp"
#include "core/machine/toml.hpp"
#include "core/model/countable.hpp"
#include "core/model/predict.hpp"
#include "core/schedule/registers.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/request.hpp"
#include "sim/lru_curve.hpp"
#include "sim/simulate.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_convolution.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using bounds::Moves;
using bounds::ScheduledBound;

// What a fully associative LRU cache of so many elements moves.
LevelCounts counted(const Contraction& c, const Schedule& schedule, double capacity) {
  sim::SystemConfig config;
  config.name = "store";
  sim::LevelConfig level;
  level.name = "store";
  level.ways = static_cast<std::int64_t>(capacity);
  level.line = size_of(c.type());
  config.levels.push_back(level);
  check(schedule, c, {"store"}, "bound");
  return simulate(Plan(c, schedule), config).levels[0];
}
double fetched(const Contraction& c, const Schedule& schedule, double capacity) {
  return static_cast<double>(counted(c, schedule, capacity).fetches.value());
}

void expect_no_more(const Contraction& c, double capacity) {
  const auto b = bounds::scheduled_upper_bound(c, Moves::loads, capacity);
  ASSERT_TRUE(b) << c.label() << c.sizes();
  EXPECT_LE(
      static_cast<double>(fetched(c, b->schedule, static_cast<std::int64_t>(b->lru_capacity))),
      b->bound.cost.moved)
      << c.label() << " " << c.sizes() << " in " << capacity << "\n"
      << to_line(b->schedule, c);
}

TEST(BoundSchedule, An_lru_cache_of_the_said_size_moves_no_more) {
  test::Random random(12);
  for (int i = 0; i < test::draws(150); ++i) {
    expect_no_more(test::random_contraction(random), static_cast<double>(random.between(3, 60)));
    const auto between = [&](std::int64_t a, std::int64_t b) { return random.between(a, b); };
    expect_no_more(test::random_convolution(between, ElementType::f64),
                   static_cast<double>(random.between(3, 60)));
  }
}

Contraction contraction(const char* label, const char* sizes) {
  return parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
}

// Classes of ioopt, Fig. 5, with extents that no tile divides.
std::vector<Contraction> small_contractions() {
  return {contraction("ab-ac-cb", "a=101,b=90,c=83"),
          contraction("abc-adec-ebd", "a=13,b=71,c=11,d=10,e=9"),
          contraction("abcd-dbea-ec", "a=11,b=9,c=37,d=12,e=41"),
          contraction("ab-cad-dcb", "a=29,b=31,c=33,d=17")};
}

TEST(BoundSchedule, Twice_the_store_as_an_lru_cache_moves_what_was_counted) {
  for (const Contraction& c : small_contractions()) {
    for (const double capacity : {24.0, 50.0, 120.0, 440.0}) {
      const auto once = bounds::scheduled_upper_bound(c, Moves::loads, capacity);
      ASSERT_TRUE(once);
      EXPECT_LE(once->lru_capacity, 2 * capacity);
      EXPECT_EQ(fetched(c, once->schedule, 2 * capacity), once->bound.cost.moved)
          << to_line(once->schedule, c);
      // Its groups are all that a contraction's tiles need.
      EXPECT_LE(once->bound.cost.moved,
                1.01 * bounds::upper_bound(nest_of(c, Moves::loads), capacity)->cost.moved);
      const auto twice = bounds::scheduled_upper_bound(c, Moves::loads_and_stores, capacity);
      ASSERT_TRUE(twice);
      const LevelCounts counts = counted(c, twice->schedule, 2 * capacity);
      EXPECT_EQ(static_cast<double>((counts.fetches + counts.write_backs).value()),
                twice->bound.cost.moved)
          << to_line(twice->schedule, c);
    }
  }
}

TEST(BoundSchedule, The_window_model_counts_the_same) {
  for (const Contraction& c : small_contractions()) {
    for (const double capacity : {50.0, 440.0}) {
      const auto bound = bounds::scheduled_upper_bound(c, Moves::loads, capacity);
      ASSERT_TRUE(bound);
      Machine machine;
      machine.name = "store";
      Level store;
      store.name = "L1";
      store.ways.value = static_cast<std::int64_t>(2 * capacity);
      store.line.value = size_of(c.type());
      store.capacity.value = size_of(c.type()) * store.ways.value;
      Level memory;
      memory.name = "memory";
      memory.kind = LevelKind::memory;
      machine.levels = {store, memory};
      const Traffic traffic = predict(c, bound->schedule, machine).traffic;
      double in = 0;
      for (TensorId t : all_tensors) {
        in += static_cast<double>(traffic.links.at(1).at(Phase::compute, array_of(t)).in.value()) /
              static_cast<double>(size_of(c.type()).value());
      }
      EXPECT_EQ(in, bound->bound.cost.moved) << to_line(bound->schedule, c);
    }
  }
}

// LRU keeps what was used last, so S is not enough; how much is differs from tiling to tiling.
TEST(BoundSchedule, Says_what_an_lru_cache_needs) {
  const Contraction c = find_workload({"conv2d", "k=16,c=24,y=14,x=14,r=3,s=3", {}, {}});
  for (const double capacity : {40.0, 100.0, 500.0, 1000.0}) {
    const auto b = bounds::scheduled_upper_bound(c, Moves::loads, capacity);
    ASSERT_TRUE(b);
    EXPECT_GT(b->lru_capacity, capacity);
    EXPECT_LT(b->lru_capacity, 2.2 * capacity);
    EXPECT_EQ(fetched(c, b->schedule, b->lru_capacity), b->bound.cost.moved);
  }
  const auto b = bounds::scheduled_upper_bound(c, Moves::loads, 500);
  EXPECT_GT(fetched(c, b->schedule, 500), 1.5 * b->bound.cost.moved);
}

TEST(LruStore, Moves_what_a_set_of_as_many_ways_does) {
  test::Random random(13);
  for (int i = 0; i < 60; ++i) {
    const Contraction c = test::random_contraction(random);
    const Schedule schedule = test::random_schedule(c, random);
    const std::int64_t capacity = random.between(1, 200);
    sim::SystemConfig config;
    config.name = "store";
    sim::LevelConfig level;
    level.name = "store";
    level.ways = capacity;
    level.line = size_of(c.type());
    config.levels.push_back(level);
    const Plan plan(c, schedule);
    const LevelCounts set = simulate(plan, config).levels[0];
    const StoreCounts store = run_in_lru_store(plan, Elements(capacity));
    EXPECT_EQ(store.loads.value(), set.fetches.value()) << to_line(schedule, c);
    EXPECT_EQ(store.stores.value(), set.write_backs.value()) << to_line(schedule, c);
  }
}

// Whatever the order, packs, caches and accounting, with any kernel that the registers hold.
TEST(LinkBounds, No_simulation_moves_less) {
  test::Random random(test::new_seed());
  const auto between = [&](std::int64_t a, std::int64_t b) { return random.between(a, b); };
  int schedules = 0;
  for (int i = 0; i < 150; ++i) {
    const Contraction c = random.chance(50) ? test::random_contraction(random)
                                            : test::random_convolution(between, ElementType::f64);
    const Schedule schedule = test::random_schedule(c, random);
    std::vector<test::CacheSpec> caches{{between(1, 4), between(1, 4)}};
    if (random.chance(50)) caches.push_back({caches[0].sets * 4, caches[0].ways + 1});
    Machine m = test::machine(caches, random.chance(50) ? 8 : 64);
    m.core.vector_bits.value = 64;
    m.core.vector_registers.value = static_cast<int>(between(3, 40));
    for (Level& level : m.levels) level.write_allocate = random.chance(70);
    m.accounting = random.chance(50) ? Accounting::honest() : Accounting::paper();
    if (!fits_registers(schedule, m.core, c.type())) continue;
    ++schedules;
    const std::vector<Bytes> least = bounds::LinkBounds(c).at(m);
    const Traffic traffic = simulate(Plan(c, schedule), m).traffic;
    ASSERT_EQ(least.size(), traffic.links.size());
    for (std::size_t l = 0; l < least.size(); ++l) {
      const Bytes moved = traffic.links[l].counted(m.accounting);
      ASSERT_LE(least[l], moved) << c.label() << " " << c.sizes() << " " << to_line(schedule, c)
                                 << " link " << l << " " << to_toml(m);
    }
  }
  EXPECT_GT(schedules, 20);
}

TEST(LinkBounds, Shrink_with_what_lies_inside) {
  const Contraction c = test::matmul(64, 60, 50);
  const Machine m = test::machine({{1, 4}, {4, 16}});  // 32 and 512 elements
  EXPECT_EQ(bounds::capacities_inside(m, ElementType::f64),
            (std::vector<std::int64_t>{68, 100, 612}));
  EXPECT_EQ(bounds::capacities_inside(m, ElementType::f32),
            (std::vector<std::int64_t>{136, 200, 1224}));
  const bounds::LinkBounds bounds(c);
  const std::vector<Bytes> least = bounds.at(m);
  bounds::Problem problem = bounds::problem_of(program_of(c));
  const auto known = lower_bound(problem, Moves::loads).partitions;
  for (std::size_t l = 0; l < least.size(); ++l) {
    // Results begin in the registers.
    problem.arrays[static_cast<std::size_t>(problem.statements[0].out.array)].starts_at_zero =
        l == 0;
    const auto number = bounds::lower_bound_at(problem, Moves::loads_and_stores,
                                               bounds::capacities_inside(m, ElementType::f64)[l],
                                               sizes_of(problem), known);
    EXPECT_EQ(least[l], Bytes(8 * static_cast<std::int64_t>(number.elements)));
    if (l > 0) {
      EXPECT_LT(least[l], least[l - 1]);
    }
  }
  Machine all = test::machine({{1, 1 << 20}});
  EXPECT_EQ(bounds.at(all)[1], Bytes(8 * (64 * 50 + 50 * 60 + 2 * 64 * 60)));
  all.accounting = Accounting::paper();
  EXPECT_EQ(bounds.at(all)[1], Bytes(8 * (64 * 50 + 50 * 60 + 64 * 60)));
  EXPECT_THROW(bounds::LinkBounds(test::matmul(1 << 21, 1 << 21, 1 << 21)).at(m), TooLargeError);
}

// A schedule that needs no more than the cache moves what was counted of it, or less.
TEST(LruCurve, Lies_between_the_bound_and_the_schedules_that_fit) {
  for (const Contraction& c : small_contractions()) {
    const std::vector<std::int64_t> all{20, 40, 80, 160, 320, 1, 57}, asked{40, 80, 320, 1};
    const auto points = bounds::bound_curve(c, all, {.moves = Moves::loads_and_stores});
    const auto lru = lru_curve(c, points, asked);
    ASSERT_EQ(lru.size(), asked.size());
    EXPECT_FALSE(lru[3]);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(lru[i]);
      const auto moved = static_cast<double>((lru[i]->loads + lru[i]->stores).value());
      const auto point = std::ranges::find(points, asked[i], &bounds::BoundPoint::capacity);
      EXPECT_GE(moved, static_cast<double>(point->lower.elements));
      double least = HUGE_VAL;
      for (const bounds::BoundPoint& p : points) {
        if (p.schedule && p.schedule->lru_capacity <= static_cast<double>(asked[i])) {
          least = std::min(least, p.schedule->bound.cost.moved);
        }
      }
      EXPECT_LE(moved, least);
      EXPECT_GE(moved, 0.9 * least);
    }
  }
}

// Over the capacity: lower bound, upper bound, its schedule and the same in an LRU cache.
TEST(BoundCurve, Lines_do_not_cross) {
  const Contraction product = contraction("ab-ac-cb", "a=64,b=60,c=50");
  const Contraction layer = find_workload({"conv2d", "k=12,c=10,y=12,x=12,r=3,s=3", {}, {}});
  for (const Contraction* c : {&product, &layer}) {
    std::vector<std::int64_t> capacities{2, 3, 20000};
    for (std::int64_t s = 4096; s > 4; s /= 2) capacities.push_back(s);
    const auto points = bounds::bound_curve(*c, capacities);
    ASSERT_EQ(points.size(), capacities.size());
    EXPECT_FALSE(points[0].upper);
    double before = 1e300;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const bounds::BoundPoint& p = points[i];
      ASSERT_TRUE(p.upper && p.schedule);
      EXPECT_EQ(p.capacity, capacities[i]);
      const double upper = p.upper->cost.moved, scheduled = p.schedule->bound.cost.moved;
      EXPECT_LE(static_cast<double>(p.lower.elements), upper);
      EXPECT_LE(upper, scheduled);
      const Plan plan(*c, p.schedule->schedule);
      const auto lru = [&](double capacity) {
        return static_cast<double>(
            run_in_lru_store(plan, Elements(static_cast<std::int64_t>(capacity))).loads.value());
      };
      EXPECT_LE(lru(p.schedule->lru_capacity), scheduled);
      EXPECT_GE(lru(static_cast<double>(p.capacity)), static_cast<double>(p.lower.elements));
      // From the largest of those that fall.
      if (i >= 3) {
        EXPECT_LE(i == 3 ? 0 : before, scheduled);
        before = scheduled;
      }
    }
    // With all in the store the lines meet.
    EXPECT_EQ(points[2].schedule->bound.cost.moved, static_cast<double>(points[2].lower.elements));
  }
}

TEST(BoundCurve, Capacities_for_schedules_alone_change_no_bound) {
  const Contraction c = contraction("ab-ac-cb", "a=64,b=60,c=50");
  const std::vector<std::int64_t> asked{2000, 100, 400}, more{70, 1400, 1};
  const auto alone = bounds::bound_curve(c, asked);
  const auto both = bounds::bound_curve(c, asked, {.schedules = more});
  ASSERT_EQ(both.size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(both[i].lower.elements, alone[i].lower.elements);
    EXPECT_LE(both[i].schedule->bound.cost.moved, alone[i].schedule->bound.cost.moved);
    EXPECT_EQ(both[3 + i].capacity, more[i]);
    EXPECT_EQ(both[3 + i].lower.elements, 0);
  }
  const auto at_1400 = bounds::bound_curve(c, std::vector<std::int64_t>{1400});
  EXPECT_EQ(both[4].schedule->bound.cost.moved, at_1400[0].schedule->bound.cost.moved);
  EXPECT_FALSE(both[5].schedule);  // nothing fits
}

TEST(BoundCurve, Stops_when_asked) {
  const Contraction c = contraction("ab-ac-cb", "a=9,b=9,c=9");
  const std::vector<std::int64_t> capacities{10, 20, 30};
  std::stop_source stop;
  bounds::BoundCurveOptions options;
  options.stop = stop.get_token();
  options.progress = [&](double share) {
    if (share > 0.5) stop.request_stop();
  };
  EXPECT_EQ(bounds::bound_curve(c, capacities, options).size(), 2u);
}

}  // namespace
}  // namespace tcsim
