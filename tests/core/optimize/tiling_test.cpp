#include "core/optimize/tiling.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/model/window.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/random_contraction.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/groups.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// acmtc-sc19, section 4: MaxIssue x Latency independent accumulators, and registers to hold them.
TEST(Kernel_choices, Hide_the_latency_and_fit_the_registers) {
  for (const auto& [bits, registers, latency] :
       {std::tuple{512, 32, 4.0}, {256, 16, 5.0}, {128, 16, 4.0}}) {
    Core core;
    core.vector_bits.value = bits;
    core.vector_registers.value = registers;
    core.fma_per_cycle.value = 2;
    core.fma_latency.value = Cycles(latency);
    for (ElementType type : {ElementType::f64, ElementType::f32}) {
      const std::vector<Kernel> kernels = kernel_choices(core, type);
      EXPECT_EQ(kernels.size(), 3);
      for (const Kernel& k : kernels) {
        const std::int64_t lanes = bits / 8 / size_of(type).value();
        ASSERT_EQ(k.mr.value() % lanes, 0);
        const std::int64_t vectors = k.mr.value() / lanes;
        EXPECT_GE(static_cast<double>(vectors * k.nr.value()), 2 * latency);
        EXPECT_LE(vectors * k.nr.value() + vectors + 1, registers);
      }
    }
  }
}

TEST(Kernel_choices, A_core_with_few_registers_or_a_long_latency_has_one_all_the_same) {
  Core core;
  core.vector_bits.value = 256;
  core.vector_registers.value = 16;
  core.fma_per_cycle.value = 2;
  core.fma_latency.value = Cycles(20);  // 40 accumulators would be wanted
  EXPECT_EQ(kernel_choices(core, ElementType::f64),
            std::vector<Kernel>({{Elements(8), Elements(6)}}));
  core.vector_registers.value = 2;
  EXPECT_EQ(kernel_choices(core, ElementType::f64),
            std::vector<Kernel>({{Elements(4), Elements(1)}}));
}

// Products without sums: a line of C, or part of a long one, by one column; tiles where lines are
// short, or long beside many columns.
TEST(Kernel_choices, Of_products_without_sums_have_a_line_of_the_result) {
  const Core core = find_machine("gold-6130").core;
  const auto kernel = [&](const char* label, const char* sizes) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f32);
    return to_text(kernel_choices(core, c).front());
  };
  EXPECT_EQ(kernel("abdc-da-bc", "a=121,b=80,c=149,d=29"), "kernel 121x1");
  EXPECT_EQ(kernel("ab-a-b", "a=1000,b=50"), "kernel 64x1");
  EXPECT_EQ(kernel("ab-a-b", "a=100000,b=7"), "kernel 64x1");
  EXPECT_EQ(kernel("ab-a-b", "a=100000,b=8"), "kernel 48x8");
  EXPECT_EQ(kernel("abc-ac-b", "a=15,b=50,c=20"), "kernel 48x8");
  EXPECT_EQ(kernel("ahb-ah-hb", "a=50,b=50,h=20"), "kernel 48x8");
  EXPECT_EQ(kernel("ahb-ah-hb", "a=70,b=50,h=20"), "kernel 70x1");
  // Lanes.
  EXPECT_EQ(kernel("hab-ha-hb", "a=5,b=50,h=20"), "kernel 20x1");
  EXPECT_EQ(kernel("hab-ha-hb", "a=5,b=50,h=15"), "kernel 48x8");
}

// Lanes of both operands are neighbours, and what belongs to a vector of them is little.
TEST(Groupings, Have_lanes_for_rows_and_columns_of_small_matrices) {
  const auto first = [](const char* label, const char* sizes) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    std::string text;
    for (DimClass g : all_dim_classes) {
      text += test::names_of(c, groupings(c).front()[g]) + (g == DimClass::batch ? "" : " ");
    }
    return text;
  };
  EXPECT_EQ(first("hab-hak-hkb", "h=2000,a=4,b=5,k=4"), "h a k b");
  EXPECT_EQ(first("hab-hak-hkb", "h=2000,a=5,b=4,k=4"), "h b k a");
  EXPECT_EQ(first("hab-hak-hkb", "h=96,a=40,b=40,k=40"), "a b k h");
  EXPECT_EQ(first("hab-hak-khb", "h=2000,a=4,b=5,k=4"), "a b k h");
  EXPECT_EQ(first("hab-ah-hb", "h=2000,a=4,b=5"), "h b  a");  // without sums either may be packed
  // Without sums, the operand that lies as C does is the right one, and what the other one has of
  // its own comes in its order; where neither lies so both are packed.
  EXPECT_EQ(first("ab-ab-ba", "a=30,b=40"), "ab   ");
  EXPECT_EQ(first("ab-ba-ba", "a=30,b=40"), "ab   ");
  EXPECT_EQ(first("abcd-ab-dcba", "a=30,b=40,c=5,d=6"), "ab   dc");
  EXPECT_EQ(first("abcd-dcba-ab", "a=30,b=40,c=5,d=6"), "ab   dc");
  EXPECT_EQ(first("bcda-cab-adbc", "a=30,b=40,c=5,d=6"), "bca   d");
  EXPECT_EQ(first("habc-ah-bhc", "h=20,a=4,b=5,c=6"), "h bc  a");
}

// As many places as fill a line of C are packed together where its stride-one dimension is the
// batch's.
TEST(Build, Packs_several_places_of_a_batch_that_runs_fastest) {
  const auto loops = [](const char* label, const char* sizes, const char* machine) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    const Machine m = find_machine(machine);
    std::string text;
    for (const Step& s : only_path(c, build(c, m, optimize(c, m).tiling)).steps) {
      if (s.kind == Step::Kind::move) text += "pack ";
      if (s.group == DimClass::batch && s.kind == Step::Kind::loop) {
        text += fmt::format("by {} ", s.tile);
      }
    }
    return text;
  };
  EXPECT_EQ(loops("hab-hka-bhk", "h=96,a=40,b=56,k=48", "zen5"), "by 8 pack by 1 ");
  EXPECT_EQ(loops("hab-hka-bhk", "h=5,a=40,b=56,k=48", "zen5"), "by 5 pack by 1 ");
  EXPECT_EQ(loops("hab-hka-bhk", "h=3,a=40,b=56,k=48", "zen5"), "by 1 pack ");
  EXPECT_EQ(loops("abh-kah-bkh", "h=96,a=40,b=56,k=48", "zen5").substr(0, 5), "by 1 ");
  // A few lines where lanes are multiplied; what has not the batch is packed once for all of it.
  EXPECT_EQ(loops("abc-ab-cab", "a=70,b=60,c=90", "zen5"), "by 32 pack by 1 ");
  EXPECT_EQ(loops("abc-ab-bca", "a=70,b=60,c=90", "zen5"), "by 1 pack ");
  EXPECT_EQ(loops("bcda-cab-adbc", "a=30,b=40,c=5,d=6", "zen5"), "pack by 1 pack ");
  // Columns one by one, beside as many rows as stay in the second cache.
  EXPECT_EQ(loops("hab-ah-bh", "h=30,a=5000,b=40", "zen5"), "by 2184 pack pack by 1 ");
}

// Of products without sums that lie across: neighbours in each of the tensors, the others place by
// place as the operand that is packed has them. Nothing where all lie alike.
TEST(Groupings, Of_products_across_keep_neighbours) {
  const auto first = [](const char* label, const char* sizes) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
    const Groups groups = groupings(c).front();
    return test::names_of(c, groups[DimClass::m]) + " " +
           test::names_of(c, groups[DimClass::batch]);
  };
  EXPECT_EQ(first("dcab-cdab-cbda", "d=17,c=28,a=36,b=21"), "ba dc");
  EXPECT_EQ(first("abcd-dcba-abcd", "a=30,b=40,c=20,d=25"), "dca b");
  EXPECT_EQ(first("abcd-abcd-dcba", "a=30,b=40,c=20,d=25"), "dca b");
  EXPECT_EQ(first("abc-cba-bac", "a=100,b=80,c=60"), "ca b");
  EXPECT_EQ(first("abc-abc-abc", "a=100,b=80,c=60"), "cba ");
  // However short lines are, as long as no operand has dimensions of its own.
  EXPECT_EQ(first("dcba-dbca-adbc", "a=7,b=38,c=61,d=38"), "abc d");
  // Packs of few places take longer to begin than to copy.
  EXPECT_EQ(first("cba-cba-abc", "a=2,b=30000,c=3"), "abc ");
  // A stride-one dimension is kept however long it is; no other one that makes tables large.
  EXPECT_EQ(first("abc-cba-abc", "a=20000,b=8,c=4"), "cba ");
  EXPECT_EQ(first("abc-cba-abc", "a=20000,b=80,c=40"), "ca b");
}

TEST(Groupings, Rows_hold_the_stride_one_dimension_of_the_output) {
  // Column-major C[a,b,c,d,e,f] = A[d,e,g,b] B[g,f,a,c]: a is B's, so m = acf and n = bde.
  const Contraction c = parse_contraction(
      "abcdef-degb-gfac",
      {{'a', 24}, {'b', 16}, {'c', 16}, {'d', 24}, {'e', 16}, {'f', 16}, {'g', 24}},
      Layout::column_major, ElementType::f64);
  const auto groups = groupings(c).front();
  EXPECT_EQ(test::names_of(c, groups[DimClass::m]), "acf");
  EXPECT_EQ(test::names_of(c, groups[DimClass::n]), "bde");
  EXPECT_EQ(test::names_of(c, groups[DimClass::k]), "g");
}

// A matrix that is read once decides in what order: vectors run as it lies in memory, whatever the
// other operand and the result do.
TEST(Groupings, Of_a_matrix_that_is_read_once_follow_its_memory) {
  const auto first = [](const char* label, const char* sizes) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
    const Groups groups = groupings(c).front();
    const Kernel kernel = kernel_choices(find_machine("gold-6130").core, c).front();
    const InPlace in_place = reads_well_in_place(c, groups, kernel);
    std::string text;
    for (DimClass g : all_dim_classes) {
      text += fmt::format("{}={} ", to_text(g), test::names_of(c, groups[g]));
    }
    return fmt::format("{}{}{}{}", text, kernel.along_k ? "along k" : "along rows",
                       in_place.left ? "" : ", left packed",
                       in_place.right ? "" : ", right packed");
  };
  // Its sums lie along memory.
  EXPECT_EQ(first("abc-bda-abcd", "a=61,b=36,c=132,d=88"),
            "m= n=c k=d batch=ba along k, left packed");
  EXPECT_EQ(first("abc-bad-abcd", "a=61,b=36,c=132,d=88"), "m= n=c k=d batch=ba along k");
  // Two of its dimensions of k are neighbours; those of the vector are not.
  EXPECT_EQ(first("ab-cda-abcd", "a=100,b=77,c=98,d=32"),
            "m= n=b k=dc batch=a along k, left packed");
  // The batch does, in the result or not: lanes.
  EXPECT_EQ(first("abc-adb-acdb", "a=88,b=15,c=87,d=65"), "m=ba n=c k=d batch= along rows");
  EXPECT_EQ(first("ab-cda-cdba", "a=25,b=128,c=108,d=52"), "m=a n=b k=dc batch= along rows");
  EXPECT_EQ(first("ab-adc-cdba", "a=25,b=128,c=108,d=52"),
            "m=a n=b k=dc batch= along rows, left packed");
  // Of two operands without columns, lanes are of the one where they are neighbours, whichever it
  // is.
  EXPECT_EQ(first("c-dabc-bacd", "a=149,b=5,c=81,d=80"),
            "m=c n= k=bad batch= along rows, left packed");
  EXPECT_EQ(first("c-bacd-dabc", "a=149,b=5,c=81,d=80"),
            "m=c n= k=bad batch= along rows, left packed");
  // Its rows do, which become group m.
  EXPECT_EQ(first("a-bcd-cdba", "a=128,b=5,c=137,d=144"), "m=a n= k=bdc batch= along rows");
  EXPECT_EQ(first("da-abc-acbd", "a=103,b=47,c=124,d=50"), "m=d n= k=bc batch=a along rows");
}

// Of C = eadb the stride-one dimension is b. A's dimensions are rows in its order or C's, then.
TEST(Groupings, Have_rows_of_either_operand) {
  const Contraction c = parse_contraction("eadb-dcae-bc", parse_sizes("a=33,b=14,c=64,d=10,e=7"),
                                          Layout::row_major, ElementType::f64);
  const auto all = [&](RowOrders rows) {
    std::vector<std::string> names;
    for (const Groups& groups : groupings(c, rows)) {
      const std::string one =
          test::names_of(c, groups[DimClass::m]) + " " + test::names_of(c, groups[DimClass::n]);
      if (std::ranges::find(names, one) == names.end()) names.push_back(one);
    }
    return names;
  };
  const auto apart = all(RowOrders::apart);
  EXPECT_TRUE(std::ranges::all_of(apart, [](const auto& one) { return one.starts_with("b "); }));
  const auto either = all(RowOrders::either);
  ASSERT_EQ(either.size(), apart.size() + 2);
  EXPECT_TRUE(std::ranges::equal(std::span(either).first(apart.size()), apart));
  EXPECT_EQ(either[apart.size()], "ead b");
  EXPECT_EQ(either.back(), "dae b");
}

// Rows as the left operand has them, where it is read in place and their neighbours in C fit a
// region; where those are too far apart, they come next to its stride-one dimension.
TEST(Groupings, Have_rows_that_are_apart_in_C) {
  const auto rows = [](const char* label, const char* sizes, bool apart) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f32);
    std::vector<std::string> all;
    for (const Groups& groups : groupings(c, apart ? RowOrders::apart : RowOrders::neighbours)) {
      const std::string m = test::names_of(c, groups[DimClass::m]);
      if (std::ranges::find(all, m) == all.end()) all.push_back(m);
    }
    return fmt::format("{}", fmt::join(all, " "));
  };
  EXPECT_EQ(rows("cbd-ba-dca", "a=36,b=33,c=9,d=183", true), "cd dc");
  EXPECT_EQ(rows("cbd-ba-dca", "a=36,b=33,c=9,d=183", false), "cd");
  EXPECT_EQ(rows("aedn-deba-bn", "a=7,b=30,d=164,e=165,n=20", true), "aed ade dea dae");
  EXPECT_EQ(rows("aedn-deba-bn", "a=7,b=30,d=16,e=16,n=20", true), "aed ade dea");
}

// Orders beside the first one, in which something else is read as it lies.
TEST(Groupings, Try_the_order_of_either_operand) {
  struct Shape {
    const char *label, *sizes;
    DimClass group;
    const char* order;
  };
  const Shape shapes[] = {
      // Sums of lanes in the order of the packed operand, which is the left one.
      {"c-dabc-bacd", "a=149,b=5,c=81,d=80", DimClass::k, "dab"},
      {"c-bacd-dabc", "a=149,b=5,c=81,d=80", DimClass::k, "dab"},
      // Rows of a matrix that is read once, although C's are neighbours.
      {"dac-abcd-ab", "a=21,b=88,c=52,d=39", DimClass::m, "dc"},
      {"dc-bae-aecbd", "a=5,b=29,c=104,d=45,e=79", DimClass::m, "dc"}};
  for (const Shape& s : shapes) {
    const Contraction c =
        parse_contraction(s.label, parse_sizes(s.sizes), Layout::row_major, ElementType::f64);
    int with_it = 0;
    for (const Groups& groups : groupings(c)) {
      with_it += test::names_of(c, groups[s.group]) == s.order;
      if (s.group == DimClass::k) {
        // The operand whose lanes are neighbours stays in place.
        const TensorId right = left_operand(c, groups) == TensorId::A ? TensorId::B : TensorId::A;
        EXPECT_EQ(c.stride(right, groups[DimClass::m][0]), Elements(1));
      }
    }
    EXPECT_GT(with_it, 0) << s.label;
  }
}

// Dimensions of one place count for nothing, wherever they stand.
TEST(Build, Lanes_do_not_mind_a_batch_of_one) {
  const Machine machine = find_machine("zen5");
  const auto best = [&](const char* label, const char* sizes) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
    return optimize(c, machine).prediction.timing.total.value();
  };
  const double without = best("da-ka-dka", "a=64,d=300,k=200");
  EXPECT_NEAR(best("daz-kaz-zdka", "a=64,d=300,k=200,z=1"), without, 1e-3 * without);
  EXPECT_NEAR(best("daz-zka-zdka", "a=64,d=300,k=200,z=1"), without, 1e-3 * without);
  EXPECT_NEAR(best("zda-kza-dkza", "a=64,d=300,k=200,z=1"), without, 1e-3 * without);
  const double alone = best("a-ka-ak", "a=149,k=810");
  EXPECT_NEAR(best("az-kaz-zak", "a=149,k=810,z=1"), alone, 1e-3 * alone);
  EXPECT_NEAR(best("za-kaz-azk", "a=149,k=810,z=1"), alone, 1e-3 * alone);
}

// Tiles of lanes end where what is neighbours in the right operand does.
TEST(Build, Lanes_keep_to_a_row_of_the_right_operand) {
  const Contraction c = parse_contraction("abc-adb-acdb", parse_sizes("a=4,b=15,c=3,d=7"),
                                          Layout::row_major, ElementType::f64);
  const Machine machine = find_machine("gold-6130");
  Tiling t;
  t.groups = groupings(c).front();
  t.kernel = {Elements(8), Elements(3)};
  const auto caches = static_cast<std::size_t>(machine.cache_count());
  t.tiles.assign(caches, {60, 3, 7});
  t.orders.assign(caches, {DimClass::m, DimClass::n, DimClass::k});
  for (const bool in_place : {true, false}) {
    t.in_place.left = in_place;
    snap(c, common_line(machine), t, false);
    const Schedule schedule = build(c, machine, t);
    EXPECT_TRUE(is_legal(schedule, c));
    EXPECT_EQ(to_line(schedule, c),
              in_place ? "groups m=ba n=c k=d for m by 15 { for m by 8 { kernel 8x3 } }"
                       : "groups m=ba n=c k=d for m by 15 { pack A in L3 { for m by 8 { kernel "
                         "8x3 } } }");
  }
}

TEST(Snap, Tiles_nest_and_divide_evenly) {
  const Contraction c = test::matmul(1536, 1536, 1536);
  Tiling t;
  t.groups = test::groups(c, {"j", "i", "k", ""});
  t.kernel = {Elements(8), Elements(6)};
  t.tiles = {{60, 20, 289}, {200, 300, 316}, {700, 5000, 900}};
  t.orders.resize(3);
  snap(c, Bytes(64), t);
  for (std::size_t l = 0; l < 3; ++l) {
    EXPECT_EQ(t.tiles[l][0] % 8, 0);
    EXPECT_EQ(t.tiles[l][1] % 6, 0);
    EXPECT_EQ(t.tiles[l][2] % 8, 0);
    if (l > 0) {
      for (std::size_t k = 0; k < 3; ++k) EXPECT_LE(t.tiles[l - 1][k], t.tiles[l][k]);
    }
  }
  EXPECT_EQ(t.tiles[2][1], 1536);  // no larger than the dimension
}

// Incumbents of another machine are snapped again: they must stay what they were.
TEST(Snap, What_is_snapped_stays_where_it_is) {
  test::Random random(13);
  SCOPED_TRACE("seed 13");
  for (int trial = 0; trial < 500; ++trial) {
    const Contraction c =
        test::matmul(random.between(1, 400), random.between(1, 400), random.between(1, 400));
    Tiling t;
    t.groups = test::groups(c, {"j", "i", "k", ""});
    t.kernel = {Elements(random.between(1, 24)), Elements(random.between(1, 14))};
    t.tiles.resize(3);
    for (auto& tile : t.tiles) {
      for (std::int64_t& n : tile) n = random.between(1, 400);
    }
    t.orders.resize(3, {DimClass::m, DimClass::n, DimClass::k});
    const bool dividing = random.chance(30);
    snap(c, Bytes(64), t, dividing);
    const Tiling once = t;
    snap(c, Bytes(64), t, dividing);
    EXPECT_EQ(t, once) << c.sizes();
  }
}

TEST(Snap, Dividing_tiles_divide) {
  const Contraction c = test::matmul(360, 350, 7);
  Tiling t;
  t.groups = test::groups(c, {"j", "i", "k", ""});
  t.kernel = {Elements(8), Elements(6)};
  t.tiles = {{60, 20, 2}, {200, 100, 5}};
  t.orders.resize(2);
  snap(c, Bytes(64), t, true);
  // j has 350 elements, 44 register tiles of 8: 25 are wanted, 22 is the nearest divisor, and of
  // those 11 for 7.5. i has 60 of 6: 16.7 wanted, 15 taken; 3.3 wanted, 3 taken.
  EXPECT_EQ(t.tiles[1], (std::array<std::int64_t, 3>{22 * 8, 15 * 6, 7}));
  EXPECT_EQ(t.tiles[0], (std::array<std::int64_t, 3>{11 * 8, 3 * 6, 1}));
}

TEST(In_place, Rows_are_neighbours_and_columns_evenly_apart) {
  const Kernel kernel{Elements(4), Elements(4)};  // of vectors without masks
  const auto reads_well = [&](const char* label, const char* sizes, const char* m, const char* n,
                              const char* k) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    return reads_well_in_place(c, test::groups(c, {m, n, k, ""}), kernel).left;
  };
  EXPECT_TRUE(reads_well("ab-ac-cb", "a=16,b=9,c=5", "a", "b", "c"));
  EXPECT_FALSE(reads_well("ab-ca-cb", "a=16,b=9,c=5", "a", "b", "c"));  // k along memory
  // Tiles of 4 rows would go over the end of a in C, and not where d is behind it there, too.
  EXPECT_FALSE(reads_well("abd-adc-cb", "a=14,b=9,c=5,d=4", "ad", "b", "c"));
  EXPECT_TRUE(reads_well("adb-adc-cb", "a=14,b=9,c=5,d=4", "ad", "b", "c"));
  EXPECT_TRUE(reads_well("abd-adc-cb", "a=16,b=9,c=5,d=4", "ad", "b", "c"));
  EXPECT_FALSE(reads_well("abd-adc-cb", "a=16,b=9,c=5,d=4", "da", "b", "c"));
}

// A copy of what is read once takes longer than vectors of which a quarter is full.
TEST(In_place, Short_rows_stay_beside_a_single_column) {
  const auto stays = [](const char* label, const char* sizes, const char* n) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f32);
    return reads_well_in_place(c, test::groups(c, {"eca", n, "bd", ""}),
                               {Elements(32), Elements(1)})
        .left;
  };
  EXPECT_TRUE(stays("eca-bd-ebcda", "a=20,b=45,c=58,d=27,e=7", ""));
  EXPECT_TRUE(stays("eca-bd-ebcda", "a=20,b=45,c=58,d=27,e=4", ""));
  EXPECT_FALSE(stays("eca-bd-ebcda", "a=20,b=45,c=58,d=27,e=3", ""));
  EXPECT_FALSE(stays("ecan-bdn-ebcda", "a=20,b=45,c=58,d=27,e=7,n=9", "n"));
}

// Columns c, d lie in A as one after the other, or with e between them.
TEST(In_place, Kernels_keep_to_a_part_of_k_whose_places_are_evenly_apart) {
  const auto even = [](const char* label, const char* sizes, const char* m, const char* k) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    return even_k(c, test::groups(c, {m, "b", k, ""}));
  };
  EXPECT_EQ(even("ab-acd-cdb", "a=16,b=9,c=6,d=4", "a", "cd"), 24);
  EXPECT_EQ(even("ab-acd-cdb", "a=16,b=9,c=6,d=4", "a", "dc"), 4);
  EXPECT_EQ(even("abe-aced-cdb", "a=16,b=9,c=6,d=4,e=3", "ae", "cd"), 6);

  const auto stays = [](const char* sizes, std::vector<std::int64_t> k_tiles) {
    const Contraction c =
        parse_contraction("ab-acd-cdb", parse_sizes(sizes), Layout::column_major, ElementType::f64);
    Tiling t;
    t.groups = test::groups(c, {"a", "b", "dc", ""});
    t.kernel = {Elements(8), Elements(4)};
    t.in_place.left = true;
    for (std::int64_t k : k_tiles) {
      t.tiles.push_back({16, 9, k});
      t.orders.push_back({DimClass::k, DimClass::m, DimClass::n});
    }
    snap(c, Bytes(64), t);
    return t.in_place.left;
  };
  // Pieces of two are too short to go on behind.
  EXPECT_TRUE(stays("a=16,b=9,c=63,d=2", {2, 2}));
  EXPECT_TRUE(stays("a=16,b=9,c=63,d=2", {1, 6}));
  EXPECT_TRUE(stays("a=16,b=9,c=63,d=2", {2, 126}));
  EXPECT_FALSE(stays("a=16,b=9,c=63,d=2", {3, 6}));
  EXPECT_FALSE(stays("a=16,b=9,c=63,d=2", {6, 6}));
  EXPECT_TRUE(stays("a=16,b=9,c=24,d=20", {32, 96}));
  EXPECT_FALSE(stays("a=16,b=33,c=24,d=20", {32, 96})) << "read too often";
  EXPECT_FALSE(stays("a=16,b=9,c=64,d=48", {32, 96})) << "each place in a page of its own";
}

TEST(In_place, A_single_dimension_of_rows_may_end_with_whole_vectors) {
  const auto reads_well = [&](std::int64_t rows, std::int64_t mr) {
    const Contraction c = test::matmul(5, rows, 7);
    const Kernel kernel{Elements(mr), Elements(4)};
    return reads_well_in_place(c, test::groups(c, {"j", "i", "k", ""}), kernel).left;
  };
  // Without masks: 6 rows are three vectors of SSE2.
  EXPECT_TRUE(reads_well(40, 6));
  EXPECT_FALSE(reads_well(44, 6));
  EXPECT_TRUE(reads_well(8 * 6 + 1, 6));
  // With masks: 12 rows are three vectors of AVX2.
  EXPECT_TRUE(reads_well(92, 12));
  EXPECT_TRUE(reads_well(92, 24));
  EXPECT_TRUE(reads_well(3, 16));
  EXPECT_FALSE(reads_well(3, 24)) << "two vectors do, with more columns";
}

// Rows that are neighbours in pieces: no kernel with masks goes beyond the end of one.
TEST(In_place, Kernels_with_masks_keep_to_the_rows_that_are_neighbours) {
  const Kernel wide{Elements(24), Elements(8)}, two{Elements(16), Elements(14)},
      narrow{Elements(6), Elements(4)};
  const auto schedule = [&](const char* sizes, const Kernel& kernel) {
    const Contraction c =
        parse_contraction("abc-adc-db", parse_sizes(sizes), Layout::row_major, ElementType::f64);
    Tiling tiling{groupings(c).front(), kernel, {{100, 12, 16}}, {{}}, true, {true, true}};
    tiling.orders = {{DimClass::m, DimClass::n, DimClass::k}};
    snap(c, Bytes(64), tiling);
    return tiling.in_place.left ? to_line(build(c, test::machine({{64, 12}}), tiling), c)
                                : "packed";
  };
  EXPECT_EQ(schedule("a=8,b=12,c=10,d=16", two),
            "groups m=ca n=b k=d for m by 10 { kernel 10x12 }");
  EXPECT_EQ(schedule("a=8,b=12,c=30,d=16", wide),
            "groups m=ca n=b k=d for m by 30 { for n by 6 { for m by 24 { kernel 24x6 } } }");
  EXPECT_EQ(schedule("a=8,b=12,c=10,d=16", wide), "packed") << "two vectors hold a row";
  EXPECT_EQ(schedule("a=8,b=12,c=3,d=16", two), "packed") << "less than half a vector";
  EXPECT_EQ(schedule("a=8,b=12,c=10,d=16", narrow), "packed") << "no masks";
  EXPECT_EQ(schedule("a=8,b=12,c=48,d=16", wide),
            "groups m=ca n=b k=d for m by 96 { for n by 6 { for m by 24 { kernel 24x6 } } }")
      << "whole kernels, any number";
}

TEST(In_place, Columns_or_k_of_the_right_operand_are_neighbours) {
  const Kernel kernel{Elements(8), Elements(4)};
  const auto reads_well = [&](const char* label, const char* sizes, const char* m, const char* n,
                              const char* k) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    return reads_well_in_place(c, test::groups(c, {m, n, k, ""}), kernel).right;
  };
  EXPECT_TRUE(reads_well("ab-ac-cb", "a=16,b=9,c=5", "a", "b", "c"));
  EXPECT_TRUE(reads_well("ab-ac-bc", "a=16,b=9,c=5", "a", "b", "c"));
  EXPECT_TRUE(reads_well("abd-ac-bdc", "a=16,b=9,c=5,d=4", "a", "bd", "c"));
  EXPECT_FALSE(reads_well("abd-ac-bdc", "a=16,b=9,c=5,d=4", "a", "db", "c"));
  // Rows of 9 columns, and pieces of 5, 3 and 2 places along k.
  EXPECT_TRUE(reads_well("abd-ac-bcd", "a=16,b=9,c=5,d=4", "a", "bd", "c"));
  EXPECT_TRUE(reads_well("ab-acd-cbd", "a=16,b=9,c=5,d=4", "a", "b", "cd"));
  EXPECT_TRUE(reads_well("ab-acd-cbd", "a=16,b=9,c=3,d=4", "a", "b", "cd"));
  EXPECT_FALSE(reads_well("ab-acd-cbd", "a=16,b=9,c=2,d=4", "a", "b", "cd"));
  EXPECT_FALSE(reads_well("ab-acd-cbd", "a=160,b=9,c=5,d=4", "a", "b", "cd")) << "read too often";
  // Without sums, columns that are all evenly apart do.
  EXPECT_TRUE(reads_well("abd-a-db", "a=16,b=9,d=4", "a", "db", ""));
  EXPECT_TRUE(reads_well("abd-ac-cdb", "a=16,b=9,c=1,d=4", "a", "db", "c"));
  EXPECT_FALSE(reads_well("abd-ac-cdb", "a=16,b=9,c=1,d=4", "a", "bd", "c"));
}

TEST(In_place, Tiles_keep_to_columns_that_are_evenly_apart) {
  const Contraction c = parse_contraction("abd-ac-bcd", parse_sizes("a=16,b=9,c=5,d=4"),
                                          Layout::column_major, ElementType::f64);
  Tiling t;
  t.groups = test::groups(c, {"a", "bd", "c", ""});
  EXPECT_EQ(even_row(c, t.groups, DimClass::n), 9);
  EXPECT_EQ(even_row(c, t.groups, DimClass::m), 0);
  EXPECT_EQ(even_row(c, test::groups(c, {"a", "db", "c", ""}), DimClass::n), 4);
  t.kernel = {Elements(8), Elements(8)};
  t.tiles = {{16, 20, 5}, {16, 36, 5}, {16, 36, 5}};
  t.orders.assign(3, {DimClass::m, DimClass::n, DimClass::k});
  t.in_place = {true, true};
  snap(c, Bytes(64), t);
  EXPECT_EQ(to_line(build(c, find_machine("i7-6700k"), t), c),
            "groups m=a n=bd k=c for n by 9 { seq over n { part 4 { for m by 8 { kernel 8x4 } } "
            "part 5 { for m by 8 { kernel 8x5 } } } }");
}

// 256 KiB, or columns a page apart.
TEST(In_place, The_right_operand_is_packed_where_it_is_large_and_its_columns_far_apart) {
  const std::vector<Kernel> kernels{{Elements(8), Elements(4)}};
  EXPECT_TRUE(may_read_in_place(test::matmul(32, 128, 1024), kernels).right);
  EXPECT_FALSE(may_read_in_place(test::matmul(33, 128, 1024), kernels).right);
  EXPECT_TRUE(may_read_in_place(test::matmul(1000, 128, 512), kernels).right);
  EXPECT_FALSE(may_read_in_place(test::matmul(1000, 128, 513), kernels).right);
}

Contraction layer(const std::string& sizes) {
  return contraction_of(parse_convolution("conv2d", sizes, ElementType::f32));
}

TEST(In_place, Of_an_image_the_places_of_a_row_are_read_by_pieces_of_k) {
  const Kernel kernel{Elements(32), Elements(14)};
  const auto right = [&](const std::string& sizes) {
    const Contraction c = layer(sizes);
    const Groups groups = groupings(c).front();
    EXPECT_EQ(may_read_in_place(c, std::vector{kernel}).right,
              reads_well_in_place(c, groups, kernel).right);
    return reads_well_in_place(c, groups, kernel).right;
  };
  EXPECT_TRUE(right("k=32,c=64,y=300,x=300,r=3,s=3,layout=nhwc"));  // of 23 MB
  EXPECT_TRUE(right("k=32,c=3,y=9,x=9,r=3,s=3,stride=2,layout=nhwc"));
  EXPECT_TRUE(right("k=32,c=3,y=9,x=9,r=3,s=3,dilation=2,layout=nhwc"));   // pieces of 3 along k
  EXPECT_FALSE(right("k=32,c=2,y=9,x=9,r=3,s=3,dilation=2,layout=nhwc"));  // of 2
  const Contraction c = layer("n=2,k=32,c=64,y=5,x=9,r=3,s=3,layout=nhwc");
  EXPECT_EQ(even_row(c, groupings(c).front(), DimClass::n), 9);
  EXPECT_EQ(even_row(layer("k=8,c=8,y=5,x=9,layout=nhwc"), groupings(c).front(), DimClass::n), 0);
}

// With channels first the image has the rows: those of one of its rows, and no more at a time.
TEST(In_place, Of_an_image_with_rows_kernels_keep_to_a_row_of_it) {
  const Kernel kernel{Elements(48), Elements(8)};
  const auto left = [&](const std::string& sizes) {
    const Contraction c = layer(sizes);
    return reads_well_in_place(c, groupings(c).front(), kernel).left;
  };
  EXPECT_TRUE(left("k=6,c=1,y=28,x=28,r=5,s=5"));
  EXPECT_TRUE(left("k=64,c=64,y=56,x=56,r=3,s=3"));
  EXPECT_FALSE(left("k=128,c=64,y=56,x=56,r=3,s=3"));        // a copy is read often enough
  EXPECT_FALSE(left("k=6,c=3,y=28,x=28,r=5,s=5,stride=2"));  // rows are not neighbours
  EXPECT_FALSE(left("k=6,c=1,y=28,x=28,r=5,s=2"));           // pieces of 2
  // Without masks what is left of a row is copied for each of several kernels beside it.
  const auto narrow = [&](const std::string& sizes) {
    const Contraction c = layer(sizes);
    return reads_well_in_place(c, groupings(c).front(), {Elements(8), Elements(6)}).left;
  };
  EXPECT_TRUE(narrow("k=64,c=64,y=56,x=56,r=3,s=3"));
  EXPECT_FALSE(narrow("k=64,c=64,y=28,x=28,r=3,s=3"));
  EXPECT_TRUE(narrow("k=6,c=64,y=28,x=28,r=3,s=3"));
  const Contraction c = layer("n=8,k=6,c=1,y=9,x=112,r=5,s=5");
  EXPECT_EQ(even_row(c, groupings(c).front(), DimClass::m), 112);
  Tiling tiling{groupings(c).front(), kernel, {{300, 6, 25}}, {{}}, true, {true, true}};
  tiling.orders = {{DimClass::m, DimClass::n, DimClass::k}};
  snap(c, Bytes(64), tiling);
  EXPECT_TRUE(tiling.in_place.left);
  EXPECT_EQ(tiling.tiles[0][0] % 112, 0);
  EXPECT_EQ(to_line(build(c, test::machine({{64, 12}}), tiling), c),
            "groups m=xyn n=k k=src for m by 112 { for m by 48 { kernel 48x6 } }");
}

TEST(Cover_row, Is_by_the_fewest_kernels_of_widths_that_differ_by_one_at_most) {
  for (std::int64_t most = 1; most <= 14; ++most) {
    for (std::int64_t row = 1; row <= 300; ++row) {
      const RowCover cover = cover_row(row, most);
      EXPECT_EQ(cover.first * cover.columns + cover.more * (cover.columns + 1), row);
      EXPECT_EQ(cover.first + cover.more, (row + most - 1) / most);
      EXPECT_GE(cover.first, 1);
      EXPECT_LE(cover.columns + (cover.more > 0 ? 1 : 0), most);
    }
  }
}

// The schedule of a tiling of one tile a level.
std::string composed(const std::string& sizes, bool m_inside) {
  const Contraction c = layer(sizes);
  const Machine m = test::machine({{8, 8}, {64, 8}});
  Tiling t;
  t.groups = groupings(c).front();
  t.kernel = {Elements(32), Elements(14)};
  t.m_inside = m_inside;
  t.in_place = {false, true};
  const auto of = [&](std::size_t g) { return group_extent(c, t, g); };
  t.tiles.assign(2, {of(0), of(1), of(2)});
  t.orders.assign(2, {DimClass::m, DimClass::n, DimClass::k});
  snap(c, Bytes(64), t);
  const Schedule s = build(c, m, t);
  check(s, c, {"L1", "L2"}, "test");
  return to_line(s, c);
}

TEST(Build, An_images_row_is_covered_by_two_kernels) {
  EXPECT_EQ(composed("k=64,c=16,y=3,x=34,r=3,s=3,layout=nhwc", false),
            "groups m=k n=xyn k=csr pack B in L2 { for n by 34 { for m by 32 { seq over n { part "
            "22 { for n by 11 { kernel 32x11 } } part 12 { kernel 32x12 } } } } }");
  EXPECT_EQ(composed("k=64,c=16,y=3,x=17,r=3,s=3,layout=nhwc", true),
            "groups m=k n=xyn k=csr pack B in L2 { for n by 17 { seq over n { part 8 { for m by 32 "
            "{ kernel 32x8 } } part 9 { for m by 32 { kernel 32x9 } } } } }");
  EXPECT_EQ(composed("k=32,c=16,y=3,x=28,r=3,s=3,layout=nhwc", true),
            "groups m=k n=xyn k=csr pack B in L2 { for n by 14 { kernel 32x14 } }");
}

TEST(Narrowed, Columns_are_covered_by_as_many_tiles_as_even_as_can_be) {
  const auto columns = [](std::int64_t most, std::int64_t extent) {
    return narrowed({Elements(24), Elements(most)}, extent).nr.value();
  };
  EXPECT_EQ(columns(8, 8), 8);
  EXPECT_EQ(columns(8, 9), 5);
  EXPECT_EQ(columns(14, 50), 13);
  EXPECT_EQ(columns(8, 5), 5);
  EXPECT_EQ(columns(8, 5000), 8);
}

// The rules of a tiling's family leave no schedule that check() refuses: whatever is asked for,
// what is snapped can be built.
TEST(Build, Of_any_tiling_that_was_snapped_is_legal) {
  const std::uint64_t seed = test::new_seed();
  test::Random random(seed);
  std::vector<Contraction> contractions = random_contractions(seed, 200);
  // And batches of products of a matrix, which all have groups of their own.
  for (int i = 0; i < 200; ++i) {
    std::string vector, matrix, result;
    Sizes sizes;
    for (char name = 'a', last = random.chance(50) ? 'd' : 'e'; name <= last; ++name) {
      sizes[name] = random.between(1, 40);
      const bool summed = name == 'a' || (name == 'e' && random.chance(50));
      const bool batch = !summed && (name == 'b' || (name == 'c' && random.chance(50)));
      matrix += name;
      if (summed || batch) vector += name;
      if (!summed) result += name;
    }
    for (std::string* t : {&vector, &matrix, &result}) random.shuffle(*t);
    contractions.push_back(parse_contraction(
        result + (random.chance(50) ? "-" + vector + "-" + matrix : "-" + matrix + "-" + vector),
        sizes, random.chance(50) ? Layout::row_major : Layout::column_major,
        random.chance(50) ? ElementType::f64 : ElementType::f32));
  }
  const std::vector<std::string> names = {"i7-6700k", "zen5", "gold-6130"};
  int in_place = 0;
  for (const Contraction& c : contractions) {
    const Machine machine = find_machine(random.pick(names));
    const auto choices = groupings(c);
    const auto kernels = kernel_choices(machine.core, c);
    for (int trial = 0; trial < 30; ++trial) {
      Tiling t;
      t.groups = random.pick(choices);
      t.kernel = random.pick(kernels);
      t.m_inside = random.chance(50);
      t.in_place = {random.chance(50), random.chance(50)};
      const std::size_t levels = machine.levels.size();
      t.tiles.resize(levels), t.orders.resize(levels);
      for (std::size_t l = 0; l < levels; ++l) {
        t.orders[l] = {DimClass::m, DimClass::n, DimClass::k};
        random.shuffle(t.orders[l]);
        for (std::size_t g = 0; g < 3; ++g) {
          t.tiles[l][g] = random.between(1, 2 * group_extent(c, t, g));
        }
      }
      snap(c, common_line(machine), t, random.chance(50));
      in_place += t.in_place.left ? 1 : 0;
      const Schedule schedule = build(c, machine, t);
      ASSERT_TRUE(is_legal(schedule, c)) << c.name() << ": " << to_line(schedule, c);
    }
  }
  EXPECT_GT(in_place, 0);
}

}  // namespace
}  // namespace tcsim
