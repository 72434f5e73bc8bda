#include "kernels/contract.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/rewrites.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/result_regions.hpp"
#include "core/workload/parse.hpp"
#include "kernels/crew.hpp"
#include "kernels/vector_code.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

template <class T>
std::vector<T> integers(Random& random, Elements count) {
  std::vector<T> v(static_cast<std::size_t>(count.value()));
  for (T& x : v) x = static_cast<T>(between(random, -8, 8));
  return v;
}

template <class T>
std::vector<long double> wide(const std::vector<T>& v) {
  return {v.begin(), v.end()};
}

// Random contractions by random schedules on 1 to 3 threads, every kind of alpha and beta, against
// the definition. Whole numbers, so that sums are exact. Tensors have exactly their size, so that
// the address sanitizer sees a read beside them. `lines`: products without sums, a column at a
// time.
template <class T>
void expect_updates(Random& random, const Contraction& c, const Schedule& schedule) {
  const auto threads = static_cast<int>(between(random, 1, 3));
  Contractor<T> contractor(c, schedule, threads);
  const std::vector<T> a = integers<T>(random, c.size(TensorId::A));
  const std::vector<T> b = integers<T>(random, c.size(TensorId::B));
  const std::vector<long double> product = evaluate(c, wide(a), wide(b));
  for (const auto& [alpha, beta] : {std::pair{1, 0}, {1, 1}, {-2, 3}, {0, 2}, {0, 0}, {3, 0}}) {
    std::vector<T> result = integers<T>(random, c.size(TensorId::C));
    std::vector<long double> expected = product;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = alpha * expected[i] + beta * static_cast<long double>(result[i]);
    }
    if (beta == 0) result.assign(result.size(), std::numeric_limits<T>::quiet_NaN());
    contractor(a.data(), b.data(), result.data(), static_cast<T>(alpha), static_cast<T>(beta));
    ASSERT_EQ(wide(result), expected) << "alpha " << alpha << " beta " << beta << ", " << threads
                                      << " threads, " << to_line(schedule, c);
  }
}

template <class T>
void expect_updates(ElementType type, bool lines) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c =
        lines ? random_product(random, type, 6000) : random_contraction(random, type, 3000);
    const Schedule schedule = random_schedule(random, c, between(random, 1, lines ? 70 : 30),
                                              lines ? 1 : between(random, 1, 15));
    ASSERT_NO_FATAL_FAILURE(expect_updates<T>(random, c, schedule));
  }
}

TEST(Contract, Scales_and_adds_as_asked) {
  expect_updates<double>(ElementType::f64, false);
  expect_updates<float>(ElementType::f32, false);
}

TEST(Contract, Writes_lines_as_asked) {
  expect_updates<double>(ElementType::f64, true);
  expect_updates<float>(ElementType::f32, true);
}

// Results whose rows are apart in C, which come by way of a buffer: in several regions, and of
// every kind.
template <class T>
void expect_regions(ElementType type) {
  const std::int64_t lanes = kernel_family<T>(best_instruction_set()).lanes;
  std::map<ResultRegions::Direction, int> whole, inside, within;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c = random_contraction(random, type, 80000);
    const Schedule schedule =
        random_schedule(random, c, between(random, 5, 48), between(random, 1, 8));
    const Path path = only_path(c, schedule);
    const ResultRegions regions = result_regions(c, schedule.groups, path, lanes);
    if (!regions.used()) continue;
    auto& found = regions.within_blocks ? within : regions.depth > 0 ? inside : whole;
    if (++found[regions.direction] > 12) continue;
    ASSERT_NO_FATAL_FAILURE(expect_updates<T>(random, c, schedule));
  }
  using Direction = ResultRegions::Direction;
  for (Direction d : {Direction::columns, Direction::places, Direction::rows}) {
    EXPECT_GT(whole[d], 2);
    EXPECT_GT(inside[d], 2);
    if (d == Direction::places) continue;  // blocks are of one place
    EXPECT_GT(within[d], 2);
  }
}

TEST(Contract, Forms_results_that_are_apart_in_C_by_the_region) {
  expect_regions<double>(ElementType::f64);
  expect_regions<float>(ElementType::f32);
}

// The parts of threads are cut into regions of their own, but each sum is formed in one order.
TEST(Contract, Forms_the_same_regions_on_any_threads) {
  for (const char* label : {"bac-acd-bd", "cab-acd-bd", "bca-acd-bd"}) {
    const Contraction c = parse_contraction(label, {{'a', 60}, {'b', 40}, {'c', 30}, {'d', 50}},
                                            Layout::column_major, ElementType::f32);
    for (const char* order :
         {"for k by 20 { for n by 6 { for m by 48 { kernel 48x6 } } }",
          "for n by 6 { for k by 20 { for m by 48 { kernel 48x6 } } }",
          "for m by 96 { for k by 20 { for n by 6 { for m by 48 { kernel 48x6 } } } }"}) {
      const Schedule schedule = parse_schedule(std::string("groups m=ac n=b k=d ") + order, c, "s");
      std::vector<float> a(60 * 30 * 50), b(40 * 50), old(60 * 40 * 30), first;
      for (auto* v : {&a, &b, &old}) {
        for (std::size_t i = 0; i < v->size(); ++i) (*v)[i] = std::sin(static_cast<float>(i));
      }
      for (int threads : {1, 2, 3}) {
        std::vector<float> result = old;
        Contractor<float>(c, schedule, threads)(a.data(), b.data(), result.data(), 0.7F, 1.3F);
        if (first.empty()) first = result;
        EXPECT_EQ(result, first) << label << ' ' << order << ' ' << threads;
      }
    }
  }
}

// Parts that threads take begin anywhere in a line, and numbers of any size are rounded: not a bit
// of a result depends on it, nor on what was done before.
TEST(Contract, Writes_the_same_lines_on_any_threads) {
  for (const std::int64_t columns : {2, 20, 40, 51}) {
    const Contraction c = parse_contraction("abc-ab-c", {{'a', 13}, {'b', 3}, {'c', columns}},
                                            Layout::column_major, ElementType::f32);
    for (const char* order :
         {"for n by 1 { kernel 39x1 }", "for n by 1 { for m by 23 { kernel 23x1 } }"}) {
      const Schedule schedule = parse_schedule(std::string("groups m=ab n=c ") + order, c, "s");
      std::vector<float> a(39), b(static_cast<std::size_t>(columns)), old(a.size() * b.size());
      for (auto* v : {&a, &b, &old}) {
        for (std::size_t i = 0; i < v->size(); ++i) (*v)[i] = std::sin(static_cast<float>(i));
      }
      std::vector<float> first;
      for (int threads : {1, 2, 3}) {
        Contractor<float> contractor(c, schedule, threads);
        for (int call = 0; call < 3; ++call) {
          std::vector<float> result = old;
          contractor(a.data(), b.data(), result.data(), 0.7F, 1.3F);
          if (first.empty()) first = result;
          EXPECT_EQ(result, first) << order << ' ' << columns << ' ' << threads << ' ' << call;
        }
      }
      EXPECT_NEAR(first[40], 0.7F * a[1] * b[1] + 1.3F * old[40], 1e-6);
    }
  }
}

TEST(Contract, Factors_may_change_however_often_it_ran) {
  const Contraction c = parse_contraction("dab-bcad-cba", parse_sizes("a=16,b=54,c=35,d=1"),
                                          Layout::row_major, ElementType::f32);
  const Schedule schedule = parse_schedule(
      "groups m=d k=c batch=ab for batch by 1 { for m by 1 { for n by 1 { for k by 18 { pack B in "
      "L2 { for k by 4 { kernel 5x2 } } } } } }",
      c, "s");
  Random random(7);
  Contractor<float> contractor(c, schedule, 1);
  const std::vector<float> a = integers<float>(random, c.size(TensorId::A));
  const std::vector<float> b = integers<float>(random, c.size(TensorId::B));
  const std::vector<long double> product = evaluate(c, wide(a), wide(b));
  for (const auto& [alpha, beta] :
       {std::pair{1, 2}, {1, 2}, {1, 2}, {3, 2}, {3, 2}, {1, 0}, {3, 0}, {1, 1}, {3, 1}, {1, 2}}) {
    std::vector<float> result = integers<float>(random, c.size(TensorId::C));
    std::vector<long double> expected = wide(result);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = alpha * product[i] + beta * expected[i];
    }
    contractor(a.data(), b.data(), result.data(), static_cast<float>(alpha),
               static_cast<float>(beta));
    ASSERT_EQ(wide(result), expected) << "alpha " << alpha << " beta " << beta;
  }
}

// Tensors that are parts of larger ones: what lies between their elements is neither read nor
// written.
TEST(Contract, Parts_of_larger_tensors_leave_the_rest_alone) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction whole = random_contraction(random, ElementType::f64, 2000);
    std::vector<Dimension> dims;
    for (int d = 0; d < whole.dim_count(); ++d) dims.push_back(whole.dim(DimId{d}));
    std::array<IndexedTensor, 3> tensors;
    for (TensorId t : all_tensors) {
      IndexedTensor& tensor = tensors[static_cast<std::size_t>(index(t))] = whole.tensor(t);
      for (std::int64_t& extent : tensor.extents) extent += between(random, 0, 3);
    }
    const Contraction c("part", dims, tensors, ElementType::f64);
    const Schedule schedule =
        random_schedule(random, c, between(random, 1, 30), between(random, 1, 15));
    Contractor<double> contractor(c, schedule, 1);
    const std::vector<long double> ones_a(static_cast<std::size_t>(c.size(TensorId::A).value()), 1);
    const std::vector<long double> ones_b(static_cast<std::size_t>(c.size(TensorId::B).value()), 1);
    const std::vector<long double> terms = evaluate(c, ones_a, ones_b);
    for (const auto& [alpha, beta] : {std::pair{1, 0}, {1, 1}, {-2, 3}, {0, 2}, {0, 0}}) {
      const std::vector<double> a = integers<double>(random, c.size(TensorId::A));
      const std::vector<double> b = integers<double>(random, c.size(TensorId::B));
      std::vector<double> result = integers<double>(random, c.size(TensorId::C));
      std::vector<long double> expected = evaluate(c, wide(a), wide(b));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const long double old = result[i];
        expected[i] = terms[i] == 0 ? old : alpha * expected[i] + beta * old;
      }
      contractor(a.data(), b.data(), result.data(), alpha, beta);
      ASSERT_EQ(wide(result), expected)
          << "alpha " << alpha << " beta " << beta << ", " << to_line(schedule, c);
    }
  }
}

TEST(Contract, What_is_not_read_may_be_anything) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> a(6, nan), b(6, nan);
  std::vector<double> c(4, 1);
  contract("ik,kj->ij", {{'i', 2}, {'j', 2}, {'k', 3}}, a.data(), b.data(), c.data(), 0.0, 2.0);
  EXPECT_EQ(c, std::vector<double>(4, 2));
  contract("ik,kj->ij", {{'i', 2}, {'j', 2}, {'k', 3}}, a.data(), b.data(), c.data());
  for (double x : c) EXPECT_TRUE(std::isnan(x));
}

TEST(Contract, Both_layouts_mean_what_they_say) {
  // [1 2 3; 4 5 6] in rows times the unit columns e3, e1.
  const std::vector<double> a{1, 2, 3, 4, 5, 6}, b{0, 1, 0, 0, 1, 0};
  std::vector<double> c(4);
  contract("ik,kj->ij", {{'i', 2}, {'j', 2}, {'k', 3}}, a.data(), b.data(), c.data());
  EXPECT_EQ(c, (std::vector<double>{3, 1, 6, 4}));
  // The same memory by columns: a is [1 3 5; 2 4 6] and b is [0 0; 1 1; 0 0].
  contract("ik,kj->ij", {{'i', 2}, {'j', 2}, {'k', 3}}, a.data(), b.data(), c.data(), 1.0, 0.0,
           Layout::column_major);
  EXPECT_EQ(c, (std::vector<double>{3, 4, 3, 4}));
}

// More than are remembered, each again later.
TEST(Contract, Does_many_sizes_in_turn) {
  for (int again = 0; again < 2; ++again) {
    for (int n = 1; n <= 40; ++n) {
      const auto size = static_cast<std::size_t>(n);
      const std::vector<double> a(size * 3, 2), b(3 * size, 1);
      std::vector<double> c(size * size, -1);
      contract<double>("ik,kj->ij", {{'i', n}, {'k', 3}, {'j', n}}, a.data(), b.data(), c.data());
      EXPECT_EQ(c, std::vector<double>(size * size, 6)) << n;
    }
  }
}

TEST(Contract, Chooses_schedules_for_odd_shapes) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Contraction c = random_contraction(random, ElementType::f64, 20000);
    const std::vector<double> a = integers<double>(random, c.size(TensorId::A));
    const std::vector<double> b = integers<double>(random, c.size(TensorId::B));
    std::vector<double> result(static_cast<std::size_t>(c.size(TensorId::C).value()));
    Contractor<double> contractor(c, 2);
    contractor(a.data(), b.data(), result.data());
    EXPECT_EQ(wide(result), evaluate(c, wide(a), wide(b)));
  }
}

// What a schedule makes on so many threads, against sums that are exact.
void expect_right(Random& random, const Contraction& c, const Schedule& s, int threads) {
  SCOPED_TRACE(c.label() + " " + c.sizes() + " " + to_line(s, c));
  const std::vector<double> a = integers<double>(random, c.size(TensorId::A));
  const std::vector<double> b = integers<double>(random, c.size(TensorId::B));
  std::vector<double> result(static_cast<std::size_t>(c.size(TensorId::C).value()));
  Contractor<double>(c, s, threads)(a.data(), b.data(), result.data());
  EXPECT_EQ(wide(result), evaluate(c, wide(a), wide(b)));
}

// Schedules that are chosen for products without sums, on the machine that is assumed and on
// others: lines, lanes, packs of either operand.
TEST(Contract, Chooses_schedules_for_products_without_sums) {
  const std::vector<Machine> machines{assumed_machine(), find_machine("i7-6700k"),
                                      find_machine("zen5")};
  Random random(7);
  for (const auto& [label, sizes] : {std::pair{"cab-a-cab", "a=7,b=256,c=16"},
                                     {"bac-bca-a", "a=2,b=4,c=133"},
                                     {"ab-ab-ba", "a=40,b=33"},
                                     {"ab-ba-ba", "a=40,b=33"},
                                     {"cab-ab-abc", "a=20,b=9,c=70"},
                                     {"abcd-cdb-da", "a=13,b=6,c=7,d=28"},
                                     {"adcb-bac-cbda", "a=9,b=11,c=5,d=6"}}) {
    for (Layout layout : {Layout::row_major, Layout::column_major}) {
      const Contraction c = parse_contraction(label, parse_sizes(sizes), layout, ElementType::f64);
      for (const Machine& m : machines) expect_right(random, c, optimize(c, m).schedule, 2);
    }
  }
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random drawn(seed);
    const Contraction c = random_product(drawn, ElementType::f64, 20000);
    OptimizeOptions soon;
    soon.soon = true;
    const Machine& m = machines[seed % machines.size()];
    expect_right(drawn, c, optimize(c, m, soon).schedule, 1 + static_cast<int>(seed % 2));
  }
}

// Kernels along k go on behind short pieces of neighbours, tiles keep to whole ones, and what is
// asked for ahead changes nothing: a few rows, pieces that end within a vector, columns that are
// neighbours or apart, a vector that is packed.
TEST(Contract, Chooses_vectors_along_short_pieces) {
  const std::vector<Machine> machines{assumed_machine(), find_machine("zen5")};
  Random random(8);
  for (const auto& [label, sizes] : {std::pair{"b-cbd-cd", "b=50,c=41,d=3"},
                                     {"b-cbd-cd", "b=70,c=23,d=12"},
                                     {"b-cbd-dc", "b=40,c=37,d=5"},
                                     {"eb-aedbc-adc", "a=3,b=37,c=7,d=5,e=4"},
                                     {"ca-cdeab-cdbe", "a=14,b=9,c=3,d=5,e=7"},
                                     {"c-dcbea-ebcda", "a=8,b=3,c=4,d=5,e=7"},
                                     {"ab-cbd-cad", "a=2,b=60,c=31,d=6"},
                                     {"ab-cbd-cad", "a=4,b=60,c=31,d=12"},
                                     {"ab-cbd-cad", "a=7,b=50,c=11,d=9"}}) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
    for (const Machine& m : machines) {
      const Schedule schedule = optimize(c, m, for_running()).schedule;
      EXPECT_TRUE(kernels_of(schedule.root).front().along_k) << to_line(schedule, c);
      expect_right(random, c, schedule, 1);
    }
  }
  const auto chosen = [&](std::string_view label, std::string_view sizes) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
    return only_path(c, optimize(c, machines.back(), for_running()).schedule);
  };
  // Whole pieces, up to 16 of them, and few columns.
  const Path streams = chosen("b-cbd-cd", "b=500,c=903,d=12");
  EXPECT_EQ(streams.nr, 4);
  ASSERT_EQ(streams.steps.front().group, DimClass::k);
  EXPECT_EQ(streams.steps.front().tile % 12, 0);
  EXPECT_LE(streams.steps.front().tile, 16 * 12);
  // A row that would cut the other operand's pieces is packed.
  const auto packs_b = [](const Step& s) {
    return s.kind == Step::Kind::move && s.tensor == TensorId::B;
  };
  EXPECT_TRUE(std::ranges::any_of(chosen("d-dbca-bac", "a=3,b=80,c=100,d=500").steps, packs_b));
  // So few sums beside more rows than a kernel has are quicker from packed operands.
  const Contraction few = parse_contraction("ab-bc-ac", parse_sizes("a=7,b=5000,c=6"),
                                            Layout::row_major, ElementType::f64);
  EXPECT_FALSE(kernels_of(optimize(few, machines.back()).schedule.root).front().along_k);
}

// Schedules that are rewritten several times in a row give the same sums.
TEST(Contract, Rewritten_schedules_are_right) {
  const Machine machine = find_machine("zen5");
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (const auto& [label, sizes] : {std::pair{"hab-hak-hkb", "h=9,a=11,b=13,k=7"},
                                     {"cba-ka-kcb", "a=11,b=17,c=7,k=20"},
                                     {"fbeac-cdafe-dcba", "a=7,b=10,c=3,d=5,e=6,f=11"},
                                     {"adbc-d-cdba", "a=5,b=17,c=7,d=6"},
                                     {"a-cab-bac", "a=9,b=40,c=6"}}) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
    Schedule s = optimize(c, machine, for_running()).schedule;
    for (int change = 0; change < 6; ++change) {
      const std::vector<Schedule> all = rewrites(c, machine, s);
      if (all.empty()) break;
      s = all[static_cast<std::size_t>(between(random, 0, std::ssize(all) - 1))];
      SCOPED_TRACE(to_line(s, c));
      expect_right(random, c, s, 1);
      expect_right(random, c, s, 2);
    }
  }
}

// Long columns of a matrix that is read once are read from beginning to end, by kernels of one
// column and up to 16 vectors: whole ones, and with a part of the last.
TEST(Contract, Reads_columns_of_a_matrix_whole) {
  const Machine machine = find_machine("zen5");
  Random random(9);
  for (std::int64_t rows = 17; rows <= 136; rows += 7) {
    const Contraction c = parse_contraction("d-cb-dcb", {{'b', 3}, {'c', 5}, {'d', rows}},
                                            Layout::column_major, ElementType::f64);
    const Schedule whole =
        parse_schedule(fmt::format("groups m=d k=cb kernel {}x1", rows), c, "test");
    expect_right(random, c, whole, 1);
    const Schedule schedule = optimize(c, machine, for_running()).schedule;
    const std::int64_t mr = kernels_of(schedule.root).front().mr.value();
    EXPECT_EQ(mr == rows, rows <= 128) << to_line(schedule, c);
    expect_right(random, c, schedule, 2);
  }
  // Of an operand whose columns are not neighbours, and into C with others between.
  const Contraction apart = parse_contraction("bad-cab-cd", parse_sizes("a=4,b=60,c=7,d=2"),
                                              Layout::row_major, ElementType::f64);
  expect_right(random, apart,
               parse_schedule("groups m=ba n=d k=c for n by 1 { for m by 120 { kernel 120x1 } }",
                              apart, "test"),
               1);
}

TEST(Contract, Refuses_what_does_not_fit) {
  const double x = 1;
  double y = 0;
  EXPECT_THROW(contract("ij,jk", {{'i', 1}}, &x, &x, &y), UsageError);
  const Contraction f32 = random_contraction(*std::make_unique<Random>(1), ElementType::f32, 100);
  EXPECT_THROW(Contractor<double>{f32}, UsageError);
}

// What a part of the work is a multiple of: register tiles, or what two kernels cover together; of
// lanes the innermost tile that is no whole number of register tiles.
std::int64_t cut_at(const Plan& plan, DimClass g) {
  std::int64_t range = plan.extent(g), uneven = 0;
  for (const Step& s : plan.steps()) {
    if (s.kind != Step::Kind::loop || s.group != g) continue;
    if (s.head > 0) return range;
    range = s.tile;
    if (plan.lanes() && g == DimClass::m && range % plan.mr() != 0) uneven = range;
  }
  if (uneven > 0) return uneven;
  return g == DimClass::m ? plan.mr() : g == DimClass::n ? plan.nr() : 1;
}

std::vector<Tile> parts_of(const Plan& plan, int threads) {
  return division(plan.contraction(), plan.schedule(), plan.path(), threads).parts;
}

TEST(Crew, Parts_cover_everything_once_in_whole_register_tiles) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Contraction c = random_contraction(random, ElementType::f64, 5000);
    const Plan plan(c, random_schedule(random, c, 4, 3));
    for (int threads : {1, 2, 3, 7}) {
      const std::vector<Tile> parts = parts_of(plan, threads);
      ASSERT_GE(parts.size(), 1u);
      ASSERT_LE(parts.size(), static_cast<std::size_t>(threads));
      for (DimClass g : all_dim_classes) {
        const bool cut = parts.front()[g].size < plan.extent(g);
        std::int64_t end = 0;
        for (const Tile& part : parts) {
          if (!cut) end = 0;
          ASSERT_EQ(part[g].begin, end);
          ASSERT_GT(part[g].size, 0);
          end += part[g].size;
          if (cut && end < plan.extent(g)) {
            ASSERT_EQ(end % cut_at(plan, g), 0);
          }
        }
        ASSERT_EQ(end, plan.extent(g));
      }
    }
  }
}

// Beyond which tiles of lanes do not go.
TEST(Crew, Cuts_lanes_between_rows_of_the_right_operand) {
  const Contraction c = parse_contraction("abc-adb-acdb", parse_sizes("a=9,b=15,c=4,d=6"),
                                          Layout::row_major, ElementType::f64);
  const Plan plan(c, parse_schedule("groups m=ba n=c k=d parallel m for m by 15 { for n by 4 { for "
                                    "m by 8 { kernel 8x4 } } }",
                                    c, "s"));
  for (int threads = 1; threads <= 5; ++threads) {
    for (const Tile& part : parts_of(plan, threads)) {
      EXPECT_EQ(part[DimClass::m].begin % 15, 0) << threads;
    }
  }
}

// Both ways leave each thread half of the work.
TEST(Crew, Cuts_what_the_larger_operand_has) {
  for (const auto& [m, n, cut] : {std::tuple{64, 192, DimClass::n}, {192, 64, DimClass::m}}) {
    const Contraction c = parse_contraction("mn-mk-kn", {{'m', m}, {'n', n}, {'k', 8}},
                                            Layout::row_major, ElementType::f64);
    const Plan plan(
        c, parse_schedule("groups m=m n=n k=k for m by 8 { for n by 4 { kernel 8x4 } }", c, "s"));
    const std::vector<Tile> parts = parts_of(plan, 2);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0][cut].size, plan.extent(cut) / 2);
    // Three tiles do not come in halves.
    const Tile third = parts_of(plan, 3).front();
    EXPECT_EQ(third[m > n ? DimClass::m : DimClass::n].size, 64);
  }
}

TEST(Crew, Cuts_what_the_schedule_says) {
  const Contraction c =
      parse_contraction("bmn-bmk-bkn", {{'b', 4}, {'m', 64}, {'n', 192}, {'k', 8}},
                        Layout::row_major, ElementType::f64);
  for (DimClass cut : {DimClass::m, DimClass::n, DimClass::batch}) {
    const std::string text = fmt::format(
        "groups m=m n=n k=k batch=b parallel {} "
        "for batch by 1 {{ for m by 8 {{ for n by 4 {{ kernel 8x4 }} }} }}",
        to_text(cut));
    const Plan plan(c, parse_schedule(text, c, "s"));
    const std::vector<Tile> parts = parts_of(plan, 2);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0][cut].size, plan.extent(cut) / 2) << text;
  }
}

// Sums come in as many pieces on any number of threads, one after the other.
TEST(Crew, Cuts_sums_alike_for_any_number_of_threads) {
  const Contraction c = parse_contraction("mn-mk-kn", parse_sizes("m=8,n=4,k=100000"),
                                          Layout::row_major, ElementType::f64);
  const Plan plan(
      c, parse_schedule("groups m=n n=m k=k parallel k for k by 200 { kernel 4x8 }", c, "s"));
  const std::vector<Tile> one = parts_of(plan, 1);
  EXPECT_GT(one.size(), 8U);
  std::int64_t end = 0;
  for (const Tile& part : one) {
    EXPECT_EQ(part[DimClass::k].begin, end);
    EXPECT_EQ(end % 64, 0);
    end += part[DimClass::k].size;
    EXPECT_EQ(part[DimClass::m].size, 4);
  }
  EXPECT_EQ(end, 100000);
  for (int threads : {2, 5, 100}) EXPECT_EQ(parts_of(plan, threads), one);
}

// Of random contractions, whose sums a program divides although they are short.
TEST(Crew, Adds_the_pieces_of_sums_to_what_beta_leaves_of_C) {
  int divided = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Contraction c = random_contraction(random, ElementType::f64, 3000);
    Schedule schedule = random_schedule(random, c, 4, 3);
    schedule.parallel = DimClass::k;
    SCOPED_TRACE(fmt::format("{} {} {}", seed, c.sizes(), to_line(schedule, c)));
    const auto numbers = [&](TensorId t) {
      std::vector<double> all(static_cast<std::size_t>(c.size(t).value()));
      for (double& x : all) x = static_cast<double>(between(random, -9, 9));
      return all;
    };
    const std::vector<double> a = numbers(TensorId::A), b = numbers(TensorId::B),
                              before = numbers(TensorId::C);
    divided += parts_of(Plan(c, schedule), 1).size() > 1;
    Schedule whole = schedule;
    whole.parallel = {};
    std::vector<double> expected = before;
    Contractor<double>(c, whole)(a.data(), b.data(), expected.data(), 2.0, 3.0);
    for (int threads : {1, 2, 3}) {
      std::vector<double> result = before;
      Contractor<double> contractor(c, schedule, threads);
      for (int call = 0; call < 2; ++call) {
        result = before;
        contractor(a.data(), b.data(), result.data(), 2.0, 3.0);
        ASSERT_EQ(result, expected) << threads;
      }
    }
  }
  EXPECT_GT(divided, 20);
}

// To the last bit where numbers are rounded.
TEST(Crew, Gives_the_same_sums_on_any_number_of_threads) {
  const Contraction c = parse_contraction("mn-mk-kn", parse_sizes("m=5,n=3,k=70001"),
                                          Layout::row_major, ElementType::f32);
  Random random(7);
  std::vector<float> a(5 * 70001), b(3 * 70001);
  for (float& x : a) x = static_cast<float>(between(random, -1000, 1000)) / 3;
  for (float& x : b) x = static_cast<float>(between(random, -1000, 1000)) / 7;
  for (const char* text : {"groups m=n n=m k=k parallel k for k by 96 { kernel 8x5 }",
                           "groups m=m n=n k=k parallel k for n by 1 { kernel 5x1 along k }"}) {
    const Schedule schedule = parse_schedule(text, c, "s");
    std::vector<float> one(15), many(15);
    Contractor<float>(c, schedule)(a.data(), b.data(), one.data());
    for (int threads : {2, 3, 5}) {
      Contractor<float>(c, schedule, threads)(a.data(), b.data(), many.data());
      EXPECT_EQ(many, one) << text << ' ' << threads;
    }
  }
}

TEST(Division, Sums_are_divided_where_results_are_few_and_too_few_to_divide) {
  const auto divided = [](const char* sizes, int threads) {
    const Contraction c =
        parse_contraction("mn-km-kn", parse_sizes(sizes), Layout::row_major, ElementType::f64);
    const bool dot = c.size(TensorId::C) == Elements(1);
    const Schedule s = parse_schedule(
        dot ? "groups m=n n=m k=k for k by 256 { kernel 1x1 }"
            : "groups m=n n=m k=k for k by 256 { for n by 4 { for m by 8 { kernel 8x4 } } }",
        c, "s");
    return sums_are_worth_dividing(c, s, only_path(c, s), threads);
  };
  EXPECT_TRUE(divided("m=1,n=1,k=1000000", 2));
  EXPECT_TRUE(divided("m=31,n=31,k=100000", 12));
  EXPECT_FALSE(divided("m=64,n=64,k=100000", 2)) << "halves of the results do as well";
  EXPECT_FALSE(divided("m=31,n=31,k=2000", 12)) << "the results of all pieces are many";
  EXPECT_FALSE(divided("m=1,n=1,k=1000000", 1));
}

// OpenMP's threads take longer to begin than a tiny contraction.
TEST(Division, More_threads_only_for_more_work) {
  const auto worth = [](const char* sizes, int threads) {
    return threads_worth(
        parse_contraction("mn-mk-kn", parse_sizes(sizes), Layout::row_major, ElementType::f64),
        threads);
  };
  EXPECT_EQ(worth("m=4,n=4,k=4", 8), 1);
  EXPECT_EQ(worth("m=16,n=16,k=16", 8), 1);
  EXPECT_EQ(worth("m=64,n=64,k=64", 2), 2);
  EXPECT_LT(worth("m=64,n=64,k=64", 64), 8);
  EXPECT_EQ(worth("m=1000,n=1000,k=1000", 64), 64);
  EXPECT_EQ(worth("m=1000,n=1,k=1000", 8), 8);
}

// On any number of threads, to the last bit.
TEST(Crew, Gives_the_same_bytes_on_any_number_of_threads) {
  Random random(5);
  const Contraction c = random_contraction(random, ElementType::f64, 50000);
  const Schedule schedule = random_schedule(random, c, 8, 6);
  std::vector<double> a(static_cast<std::size_t>(c.size(TensorId::A).value()));
  std::vector<double> b(static_cast<std::size_t>(c.size(TensorId::B).value()));
  for (double& x : a) x = std::ldexp(static_cast<double>(between(random, -1000, 1000)), -7) / 3;
  for (double& x : b) x = std::ldexp(static_cast<double>(between(random, -1000, 1000)), -7) / 7;
  std::vector<double> one(static_cast<std::size_t>(c.size(TensorId::C).value())), many = one;
  Contractor<double>(c, schedule)(a.data(), b.data(), one.data());
  for (int threads : {2, 3, 5}) {
    Contractor<double>(c, schedule, threads)(a.data(), b.data(), many.data());
    EXPECT_EQ(many, one) << threads;
  }
}

TEST(Crew, Stops_when_asked) {
  Random random(6);
  const Contraction c = random_contraction(random, ElementType::f64, 50000);
  const std::vector<double> a(static_cast<std::size_t>(c.size(TensorId::A).value()));
  const std::vector<double> b(static_cast<std::size_t>(c.size(TensorId::B).value()));
  std::vector<double> result(static_cast<std::size_t>(c.size(TensorId::C).value()));
  Contractor<double> contractor(c, random_schedule(random, c, 2, 2), 2);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(contractor(a.data(), b.data(), result.data(), 1, 0, source.get_token()),
               Interrupted);
}

}  // namespace
}  // namespace tcsim
