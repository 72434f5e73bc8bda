#include "core/optimize/bound.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"
#include "core/workload/request.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_convolution.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// Lines of one element and kernels of 1x6 and 2x2, so that small extents have many tiles.
Machine small_machine(const std::vector<test::CacheSpec>& caches) {
  Machine m = test::machine(caches, 8);
  m.core.vector_bits.value = 64;
  m.core.vector_registers.value = 8;
  m.core.fma_per_cycle.value = 1;
  m.accounting.compute_roof = false;
  return m;
}

// Sizes that tiles of a class can have, all pairs of an inner and an outer one.
std::vector<std::array<std::int64_t, 2>> nested_tiles(std::int64_t extent, std::int64_t unit) {
  std::vector<std::array<std::int64_t, 2>> all;
  const auto sizes = [unit](std::int64_t range) {
    std::vector<std::int64_t> s;
    const std::int64_t units = (range + unit - 1) / unit;
    for (std::int64_t steps = 1; steps <= units; ++steps) {
      s.push_back((units + steps - 1) / steps * unit);
    }
    s.erase(std::unique(s.begin(), s.end()), s.end());
    return s;
  };
  for (std::int64_t outer : sizes(extent)) {
    for (std::int64_t inner : sizes(outer)) all.push_back({inner, outer});
  }
  return all;
}

// Calls f(tiling) for every tile, order and kernel of a contraction for two caches.
template <class F>
void for_each_tiling(const Contraction& c, const Machine& m, F&& f) {
  Tiling t;
  t.groups = groupings(c).front();
  t.tiles.resize(2);
  t.orders.resize(2);
  const auto each_order = [](auto&& g) {
    std::array<DimClass, 3> order{DimClass::m, DimClass::n, DimClass::k};
    do g(order);
    while (std::next_permutation(order.begin(), order.end()));
  };
  for (const Kernel& kernel : kernel_choices(m.core, c.type())) {
    t.kernel = kernel;
    for (const auto& tm : nested_tiles(group_extent(c, t, 0), kernel.mr.value())) {
      for (const auto& tn : nested_tiles(group_extent(c, t, 1), kernel.nr.value())) {
        for (const auto& tk : nested_tiles(group_extent(c, t, 2), 1)) {
          t.tiles = {{tm[0], tn[0], tk[0]}, {tm[1], tn[1], tk[1]}};
          each_order([&](const auto& inner) {
            t.orders[0] = inner;
            each_order([&](const auto& outer) {
              t.orders[1] = outer;
              for (const InPlace in_place : {InPlace{}, InPlace{true, true}}) {
                t.in_place = in_place;
                Tiling canonical = t;
                snap(c, Bytes(8), canonical);
                if (canonical == t) f(t);
              }
            });
          });
        }
      }
    }
  }
}

struct Case {
  const char* what;
  std::int64_t m, n, k;
  std::vector<test::CacheSpec> caches;
  std::array<double, 3> bytes_per_cycle;
};

// The certificate may not promise more than the best of all tilings, and the search should come
// near that best.
TEST(Bound, No_tiling_of_small_problems_is_below_it) {
  const Case cases[] = {
      {"L1 fully associative, memory decides", 12, 12, 8, {{1, 40}, {1, 96}}, {64, 32, 1}},
      {"the link between the caches decides", 12, 12, 8, {{1, 32}, {1, 128}}, {64, 1, 1}},
      {"set-associative", 8, 12, 12, {{8, 4}, {16, 8}}, {64, 4, 1}},
      {"long k", 6, 6, 16, {{1, 32}, {1, 64}}, {64, 8, 1}},
      {"registers decide", 8, 6, 8, {{1, 32}, {1, 64}}, {1, 1, 1}},
  };
  for (const Case& x : cases) {
    SCOPED_TRACE(x.what);
    Machine m = small_machine(x.caches);
    for (std::size_t l = 0; l < 3; ++l) m.levels[l].bandwidth.value.value = x.bytes_per_cycle[l];
    const Contraction c = test::matmul(x.m, x.n, x.k);
    const std::vector<Kernel> kernels = kernel_choices(m.core, c.type());
    const ProvenBound bound = proven_bound(c, m, kernels);
    Machine paper = m;
    paper.accounting = Accounting::paper();
    const ProvenBound paper_bound = proven_bound(c, paper, kernels);
    SharedCounts counts;
    Seconds best(1e9);
    std::int64_t tilings = 0;
    for_each_tiling(c, m, [&](const Tiling& t) {
      if (tilings++ % test::one_of != 0) return;
      const Prediction p = predict(c, build(c, m, t), m, counts);
      best = std::min(best, p.timing.total);
      for (std::size_t l = 0; l < bound.bytes.size(); ++l) {
        ASSERT_GE(static_cast<double>(p.traffic.links[l].counted(m.accounting).value()),
                  bound.bytes[l] * (1 - 1e-9))
            << "link " << l << " of " << to_line(build(c, m, t), c);
        ASSERT_GE(static_cast<double>(p.traffic.links[l].counted(paper.accounting).value()),
                  paper_bound.bytes[l] * (1 - 1e-9))
            << "by the paper's accounting, link " << l << " of " << to_line(build(c, m, t), c);
      }
    });
    EXPECT_GT(tilings, 1000);
    const Optimized o = optimize(c, m);
    EXPECT_DOUBLE_EQ(o.certificate.relaxed_bound, bound.time.value());
    EXPECT_LE(bound.time, best);
    EXPECT_LE(o.prediction.timing.total.value(), best.value() * 1.05);
  }
}

// The same for small convolutions, whose tiles overlap.
TEST(Bound, No_tiling_of_small_convolutions_is_below_it) {
  struct Conv {
    const char *statement, *sizes;
    std::vector<test::CacheSpec> caches;
  };
  const Conv cases[] = {
      {"O[k,x] += I[c,x+r] * W[k,c,r]", "k=6,x=8,c=2,r=3", {{1, 24}, {1, 48}}},
      {"O[k,x] += I[c,2*x+r] * W[k,c,r]", "k=6,x=8,c=2,r=3", {{1, 24}, {1, 48}}},
      {"O[k,x] += I[c,3*x+r] * W[k,c,r]", "k=8,x=6,c=4,r=2", {{1, 16}, {1, 40}}},
      {"O[k,y,x] += I[y+r,x+s] * W[k,r,s]", "k=6,y=3,x=4,r=2,s=2", {{1, 16}, {1, 40}}},
      {"O[x,k] += I[x+r] * W[r,k]", "k=12,x=12,r=8", {{4, 4}, {8, 8}}},
  };
  for (const Conv& x : cases) {
    SCOPED_TRACE(x.statement);
    const Machine m = small_machine(x.caches);
    const Contraction c = find_workload({x.statement, x.sizes, std::nullopt, ElementType::f64});
    ASSERT_FALSE(c.is_plain());
    const ProvenBound bound = proven_bound(c, m, kernel_choices(m.core, c.type()));
    SharedCounts counts;
    std::int64_t tilings = 0;
    for_each_tiling(c, m, [&](const Tiling& t) {
      if (tilings++ % test::one_of != 0) return;
      const Schedule schedule = build(c, m, t);
      const Prediction p = predict(c, schedule, m, counts);
      for (std::size_t l = 0; l < bound.bytes.size(); ++l) {
        ASSERT_GE(static_cast<double>(p.traffic.links[l].counted(m.accounting).value()),
                  bound.bytes[l] * (1 - 1e-9))
            << "link " << l << " of " << to_line(schedule, c);
      }
    });
    EXPECT_GT(tilings, 300);
  }
}

// Whether a schedule is one that --schedule accepts.
bool accepted(const Schedule& schedule, const Contraction& c, const Machine& m) {
  return is_legal(schedule, c) && fits_registers(schedule, m.core, c.type());
}

// Asserts that no link, and not the time, is below the bound of all schedules.
void expect_above(const ProvenBound& bound, const Contraction& c, const Machine& m,
                  const Schedule& schedule, SharedCounts& counts) {
  for (const Detail detail : {Detail::full, Detail::counted}) {
    const Prediction p = predict(c, schedule, m, counts, 1, detail);
    for (std::size_t l = 0; l < bound.bytes.size(); ++l) {
      ASSERT_GE(static_cast<double>(p.traffic.links[l].counted(m.accounting).value()),
                std::floor(bound.bytes[l] * (1 - 1e-9)))
          << "link " << l << " of " << to_line(schedule, c) << ", " << c.label() << ' ' << c.sizes()
          << ' ' << to_text(c.layout()) << ", " << m.accounting.name;
    }
    ASSERT_GE(p.timing.total.value(), bound.time.value() * (1 - 1e-9)) << to_line(schedule, c);
  }
}

// One to three caches of up to a hundred lines, small registers, either accounting.
Machine random_small_machine(test::Random& random) {
  std::vector<test::CacheSpec> caches;
  std::int64_t lines = 1;
  for (std::int64_t l = random.between(1, 3); l > 0; --l) {
    const std::int64_t sets = random.chance(40) ? 1 : std::int64_t{1} << random.between(0, 4);
    const std::int64_t ways = std::max(random.between(1, sets == 1 ? 60 : 8), lines / sets + 1);
    caches.push_back({sets, ways});
    lines = sets * ways;
  }
  Machine m = test::machine(caches, random.chance(50) ? 8 : 64);
  m.core.vector_bits.value = random.chance(50) ? 64 : 256;
  m.core.vector_registers.value = random.chance(50) ? 8 : 16;
  if (random.chance(50)) m.accounting = Accounting::paper();
  for (std::size_t l = 1; l + 1 < m.levels.size(); ++l) {
    if (random.chance(20)) m.levels[l].inclusion.value = Inclusion::exclusive;
  }
  return m;
}

// Whatever their kernels, packs, groups, tiles and loops, with two kernels for a range, lanes and
// vectors along k among them.
TEST(Bound, Of_all_is_above_no_schedule_that_is_legal) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  test::Random random(seed);
  int schedules = 0;
  for (int i = 0; i < test::draws(400); ++i) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
      return random.between(low, high);
    };
    const Contraction c = i % 4 == 0 ? test::random_convolution(between, ElementType::f64)
                                     : test::random_contraction(random);
    const Machine m = random_small_machine(random);
    const ProvenBound bound = bound_of_all(c, m);
    SharedCounts counts;
    for (int j = 0; j < 15; ++j) {
      const Schedule schedule = test::random_schedule(c, random);
      if (!accepted(schedule, c, m)) continue;
      ++schedules;
      ASSERT_NO_FATAL_FAILURE(expect_above(bound, c, m, schedule, counts));
    }
  }
  EXPECT_GE(schedules, test::found(1501));
}

// Calls f(schedule) for all of c = test::matmul() with one band of tiles around those of the
// registers: every kernel, tile, order of loops, and place of either pack or none.
template <class F>
void for_each_schedule(const Contraction& c, const Machine& m, F&& f) {
  const Groups groups = groupings(c).front();
  const auto extent = [&](DimClass g) { return extent_of(c, groups[g]); };
  std::array<DimClass, 3> order{DimClass::m, DimClass::n, DimClass::k};
  const auto with = [&](const Kernel& kernel, const std::array<std::int64_t, 3>& tile, int pack_a,
                        int pack_b) {
    std::vector<Node> spine;
    const auto packs = [&](int place) {
      for (const auto& [t, at] : {std::pair{TensorId::A, pack_a}, {TensorId::B, pack_b}}) {
        if (at == place) spine.push_back({Move{Move::Kind::pack, t, m.levels.front().name, {}}});
      }
    };
    packs(0);
    int place = 1;
    for (DimClass g : order) {
      spine.push_back({Loop{g, Elements(tile[static_cast<std::size_t>(index(g))]), {}}});
      packs(place++);
    }
    spine.push_back({Loop{DimClass::n, kernel.nr, {}}});
    spine.push_back({Loop{DimClass::m, kernel.mr, {}}});
    const Schedule schedule{groups, nested(std::move(spine), kernel)};
    if (accepted(schedule, c, m)) f(schedule);
  };
  for (std::int64_t mr = 1; mr <= extent(DimClass::m); ++mr) {
    for (std::int64_t nr = 1; nr <= extent(DimClass::n); ++nr) {
      const Kernel kernel{Elements(mr), Elements(nr)};
      if (!fits_registers(kernel, m.core, c.type())) continue;
      for (std::int64_t tm = mr; tm <= extent(DimClass::m); ++tm) {
        for (std::int64_t tn = nr; tn <= extent(DimClass::n); ++tn) {
          for (std::int64_t tk = 1; tk <= extent(DimClass::k); ++tk) {
            std::ranges::sort(order);
            do {
              for (int pack_a = -1; pack_a <= 3; ++pack_a) {
                for (int pack_b = -1; pack_b <= 3; ++pack_b) {
                  with(kernel, {tm, tn, tk}, pack_a, pack_b);
                }
              }
            } while (std::next_permutation(order.begin(), order.end()));
          }
        }
      }
    }
  }
}

TEST(Bound, Of_all_is_above_none_of_all_schedules_with_one_band) {
  for (const test::CacheSpec cache : {test::CacheSpec{1, 10}, {4, 4}}) {
    Machine m = small_machine({cache});
    m.accounting.compute_roof = true;
    const Contraction c = test::matmul(4, 3, 5);
    const ProvenBound bound = bound_of_all(c, m);
    SharedCounts counts;
    int schedules = 0, asked = 0;
    for_each_schedule(c, m, [&](const Schedule& schedule) {
      // Those in between are much like their neighbours.
      constexpr int few = 23;
      if (++schedules % (few * test::one_of) != 0 || ::testing::Test::HasFatalFailure()) return;
      ++asked;
      expect_above(bound, c, m, schedule, counts);
    });
    EXPECT_GE(asked, test::found(1001));
  }
}

// The schedule that reads both operands in place is a quarter below the bound of a family that
// packs one of them.
TEST(Bound, Of_all_knows_what_a_family_that_packs_does_not) {
  const Contraction c =
      find_workload({"edc-eabc-adb", "a=14,b=11,c=3,d=13,e=42", Layout::row_major, {}});
  const Machine m = find_machine("i7-6700k");
  const Schedule schedule = parse_schedule(
      "groups m=ce n=d k=ba for m by 80 { for m by 8 { for n by 5 { kernel 8x5 } } }", c, "test");
  const Prediction p = predict(c, schedule, m);
  EXPECT_FALSE(outside_family(c, schedule, m).empty());
  EXPECT_LT(p.timing.total, proven_bound(c, m, kernel_choices(m.core, c)).time * 0.9);
  EXPECT_GE(p.timing.total, bound_of_all(c, m).time);
}

// An outer product, whose right operand is too large to be read in place elsewhere.
TEST(Bound, Of_few_places_does_not_take_the_right_operand_as_packed) {
  const Contraction c = parse_contraction("cbdea-c-dabe", parse_sizes("a=206,b=2,c=144,d=6942,e=9"),
                                          Layout::column_major, ElementType::f32);
  const Machine m = test::machine({{64, 8}, {512, 8}, {4096, 16}});
  const Certificate certificate = optimize(c, m).certificate;
  EXPECT_GE(certificate.gap, 0);
  EXPECT_EQ(certificate.family.find("packed"), std::string::npos) << certificate.family;
}

// By hand: C = A B with m = n = k = 64 and a fully associative cache of 64 elements. C stays as 8 x
// 8 tiles: each operand is read 64 / 8 times, once of which is the first touch: 2 x (1/8 - 1/64) of
// 64^3; first touches are 3 x 64^2 and C leaves once more.
TEST(Bound, Counts_first_touches_and_reuse) {
  Machine m = small_machine({{1, 64}});
  const Contraction c = test::matmul(64, 64, 64);
  const ProvenBound b = proven_bound(c, m, std::vector<Kernel>{{Elements(2), Elements(2)}});
  EXPECT_DOUBLE_EQ(b.bytes[1], 8 * (4 * 64.0 * 64 + 64.0 * 64 * 64 * 2 * (1 / 8. - 1 / 64.)));
  // Registers: 64^3 / 2 of each operand, C stored; both operands may stay in place.
  EXPECT_DOUBLE_EQ(b.bytes[0], 8 * (64.0 * 64 * 64 + 64 * 64));
  // Not so the left one, B, where its rows are apart: it is packed (read and written).
  const Contraction apart = parse_contraction("ij-ik-jk", {{'i', 64}, {'j', 64}, {'k', 64}},
                                              Layout::row_major, ElementType::f64);
  EXPECT_DOUBLE_EQ(proven_bound(apart, m, std::vector<Kernel>{{Elements(2), Elements(2)}}).bytes[0],
                   8 * (64.0 * 64 * 64 + 64 * 64 + 2 * 64 * 64));
  // Nor the right one, A, where it is large and its columns are far apart.
  const Contraction large = test::matmul(64, 64, 1024);
  EXPECT_DOUBLE_EQ(proven_bound(large, m, std::vector<Kernel>{{Elements(2), Elements(2)}}).bytes[0],
                   8 * (64.0 * 64 * 1024 + 64 * 64 + 2 * 64 * 1024));
}

// What a schedule with lanes of the batch reads in place is charged with no copy, however large.
TEST(Bound, Of_lanes_counts_no_copy_of_the_right_operand) {
  const Contraction c =
      find_workload({"ha-hka-hk", "h=64,a=3000,k=64", Layout::column_major, ElementType::f32});
  const Machine m = find_machine("zen5");
  const Optimized o = optimize(c, m);
  EXPECT_TRUE(o.schedule.groups[DimClass::batch].empty());
  EXPECT_EQ(outside_family(c, o.schedule, m), "");
  EXPECT_FALSE(family_words(c, kernel_choices(m.core, c)).ends_with("packed"));
  const ProvenBound b = proven_bound(c, m, kernel_choices(m.core, c));
  for (std::size_t l = 0; l < b.bytes.size(); ++l) {
    EXPECT_LE(b.bytes[l],
              static_cast<double>(o.prediction.traffic.links[l].counted(m.accounting).value()))
        << l;
  }
}

TEST(Bound, Is_the_compulsory_traffic_where_everything_fits) {
  Machine m = small_machine({{1, 100000}});
  const Contraction c = test::matmul(64, 32, 16);
  const ProvenBound b = proven_bound(c, m, kernel_choices(m.core, c.type()));
  EXPECT_DOUBLE_EQ(b.bytes[1], 8 * (64 * 16 + 16 * 32 + 2 * 64 * 32));
  m.accounting = Accounting::paper();
  EXPECT_DOUBLE_EQ(proven_bound(c, m, kernel_choices(m.core, c.type())).bytes[1],
                   8 * (64 * 16 + 16 * 32 + 64 * 32));
}

// f64 in vectors of four and 16 registers: 8x6, 12x4 and 4x12. A, of 1.3 MB and read in columns
// that are more than a page apart, is not left in place.
TEST(Family, Has_a_name_and_tells_what_is_outside) {
  const Machine m = test::machine({{8, 8}, {64, 8}});
  const Contraction c = test::matmul(300, 260, 550);
  const auto kernels = kernel_choices(m.core, c.type());
  EXPECT_TRUE(family_words(c, kernels).starts_with("kernels within 8x6, 12x4 or 4x12"))
      << family_words(c, kernels);
  const auto why = [&](const std::string& kernel, bool packed) {
    const auto x = kernel.find('x');
    const std::string nest = "for n by " + kernel.substr(x + 1) + " { for m by " +
                             kernel.substr(0, x) + " { kernel " + kernel + " } }";
    return outside_family(
        c,
        test::schedule("groups m=j n=i k=k " +
                       (packed ? "pack A in L2 { pack B in L2 { " + nest + " } }" : nest)),
        m);
  };
  EXPECT_EQ(why("8x6", true), "");
  EXPECT_EQ(why("4x4", true), "");  // loads no less than 4x12
  EXPECT_EQ(why("16x3", true), "its kernel 16x3 is not within 8x6, 12x4 or 4x12");
  EXPECT_TRUE(why("8x6", false).ends_with(" in place")) << why("8x6", false);
  const Optimized o = optimize(c, m);
  EXPECT_EQ(outside_family(c, build(c, m, o.tiling), m), "");
  EXPECT_EQ(outside_family(c, o.schedule, m), "it reads A in place");
}

// Five rows take two vectors of four, eight columns as rows two as well: the bound counts the
// former, 8/5 of the peak.
TEST(Family, Names_the_dimensions_of_vectors_that_are_not_full) {
  const Machine m = test::machine({{64, 12}});
  const Contraction c = test::matmul(8, 5, 3000);
  const auto kernels = kernel_choices(m.core, c.type());
  const ProvenBound bound = proven_bound(c, m, kernels);
  EXPECT_GE(bound.time.value(), 2.0 * 8 * 5 * 3000 / 8 * 8 / 5 * 1e-9 * (1 - 1e-9));
  EXPECT_NE(family_words(c, kernels).find(", vectors along j"), std::string::npos)
      << family_words(c, kernels);
  const auto why = [&](const char* groups, const char* nest) {
    return outside_family(c, test::schedule(groups + std::string(nest)), m);
  };
  EXPECT_EQ(why("groups m=i n=j k=k ", "kernel 8x5"), "its vectors run along other dimensions");
  EXPECT_NE(why("groups m=j n=i k=k ", "for m by 4 { for n by 6 { kernel 4x6 } }"),
            "its vectors run along other dimensions");
}

}  // namespace
}  // namespace tcsim
