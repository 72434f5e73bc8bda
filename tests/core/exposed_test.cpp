#include "core/optimize/exposed.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/tiling.hpp"
#include "core/workload/suite.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

// Cycles, at 1 GHz.
double waits(const Contraction& c, const char* text, double bytes_per_cycle = 1) {
  Machine m = test::machine({{64, 8}, {1024, 16}});
  for (Level& l : m.levels) l.bandwidth.value.value = bytes_per_cycle;
  const Schedule s = test::schedule(text);
  return exposed(c, s, predict(c, s, m), m).value() * 1e9;
}

// On links that take no time.
double waits_beside_links(const Contraction& c, const char* text) { return waits(c, text, 1e15); }

TEST(Exposed, Counts_packs_runs_calls_and_rows_apart) {
  const Contraction c = test::matmul(16, 16, 16);
  // A and B are 256 elements in a row each; 4 tasks of 2 calls.
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 4 { "
                                 "for m by 8 { kernel 8x4 } } } }"),
              2 * (1800 + 40) + 4 * 50 + 8 * 20, 1e-3);
  // B in two halves, whose 16 rows are 8 elements each; 2 tasks of 4 calls.
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=j n=i k=k pack A in L2 { for m by 8 { pack B in L2 { "
                                 "for n by 4 { kernel 8x4 } } } }"),
              1800 + 40 + 2 * (1800 + 16 * 40) + 2 * 50 + 8 * 20, 1e-3);
  // Two pieces of k are twice the tasks and calls.
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=j n=i k=k pack A in L2 { pack B in L2 { for k by 8 { "
                                 "for n by 4 { for m by 8 { kernel 8x4 } } } } }"),
              2 * (1800 + 40) + 8 * 50 + 16 * 20, 1e-3);
  // Rows of kernels along i, which are apart in C.
  EXPECT_NEAR(waits_beside_links(c,
                                 "groups m=i n=j k=k pack A in L2 { pack B in L2 { for n by 4 { "
                                 "for m by 8 { kernel 8x4 } } } }"),
              2 * (1800 + 40) + 4 * 50 + 8 * (20 + 32 * 3), 1e-3);
}

TEST(Exposed, Updates_of_C_again_and_again_cost_its_traffic) {
  const Contraction c = test::matmul(64, 64, 64);
  // 64 x 64 elements in and out of L1's link, 7 times more.
  EXPECT_GT(waits(c,
                  "groups m=j n=i k=k pack A in L2 { pack B in L2 { for k by 8 { for n by 4 { for "
                  "m by 8 { kernel 8x4 } } } } }"),
            waits(c,
                  "groups m=j n=i k=k pack A in L2 { pack B in L2 { for n by 4 { for m by 8 { "
                  "kernel 8x4 } } } }") +
                7 * 2 * 64 * 64 * 8);
}

TEST(Exposed, Reading_in_place_saves_the_pack) {
  const Contraction c = test::matmul(64, 64, 64);
  EXPECT_LT(
      waits(c, "groups m=j n=i k=k pack A in L2 { for m by 8 { for n by 4 { kernel 8x4 } } }"),
      waits(c,
            "groups m=j n=i k=k pack A in L2 { pack B in L2 { for m by 8 { for n by 4 { "
            "kernel 8x4 } } } }"));
}

TEST(In_place, Rows_are_neighbours_and_columns_evenly_apart) {
  const Kernel kernel{Elements(8), Elements(4)};
  const auto reads_well = [&](const char* label, const char* sizes, const char* m, const char* n,
                              const char* k) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    return reads_well_in_place(c, {m, n, k, ""}, kernel).left;
  };
  EXPECT_TRUE(reads_well("ab-ac-cb", "a=16,b=9,c=5", "a", "b", "c"));
  EXPECT_FALSE(reads_well("ab-ca-cb", "a=16,b=9,c=5", "a", "b", "c"));  // k along memory
  // Tiles of 8 rows would go over the end of a.
  EXPECT_FALSE(reads_well("abd-adc-cb", "a=12,b=9,c=5,d=4", "ad", "b", "c"));
  EXPECT_TRUE(reads_well("abd-adc-cb", "a=16,b=9,c=5,d=4", "ad", "b", "c"));
  EXPECT_FALSE(reads_well("abd-adc-cb", "a=16,b=9,c=5,d=4", "da", "b", "c"));
}

// Columns c, d lie in A as one after the other, or with e between them.
TEST(In_place, Kernels_keep_to_a_part_of_k_whose_places_are_evenly_apart) {
  const auto even = [](const char* label, const char* sizes, const char* m, const char* k) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    return even_k(c, {m, "b", k, ""});
  };
  EXPECT_EQ(even("ab-acd-cdb", "a=16,b=9,c=6,d=4", "a", "cd"), 24);
  EXPECT_EQ(even("ab-acd-cdb", "a=16,b=9,c=6,d=4", "a", "dc"), 4);
  EXPECT_EQ(even("abe-aced-cdb", "a=16,b=9,c=6,d=4,e=3", "ae", "cd"), 6);

  const Contraction c = parse_contraction("ab-acd-cdb", parse_sizes("a=16,b=9,c=64,d=48"),
                                          Layout::column_major, ElementType::f64);
  const auto stays = [&](std::vector<std::int64_t> k_tiles) {
    Tiling t;
    t.groups = {"a", "b", "dc", ""};
    t.kernel = {Elements(8), Elements(4)};
    t.in_place.left = true;
    for (std::int64_t k : k_tiles) {
      t.tiles.push_back({16, 9, k});
      t.orders.push_back({DimClass::k, DimClass::m, DimClass::n});
    }
    snap(c, Bytes(64), t);
    return t.in_place.left;
  };
  EXPECT_TRUE(stays({48, 48}));
  EXPECT_TRUE(stays({24, 96}));
  EXPECT_TRUE(stays({16, 48 * 64}));
  EXPECT_FALSE(stays({32, 96}));
  EXPECT_FALSE(stays({96, 96}));
}

TEST(In_place, A_single_dimension_of_rows_may_end_with_whole_vectors) {
  const Kernel kernel{Elements(24), Elements(8)};
  const auto reads_well = [&](std::int64_t rows) {
    return reads_well_in_place(test::matmul(5, rows, 7), {"j", "i", "k", ""}, kernel).left;
  };
  EXPECT_TRUE(reads_well(128));
  EXPECT_FALSE(reads_well(124));
  EXPECT_TRUE(reads_well(8 * 24 + 1));
}

TEST(In_place, Columns_or_k_of_the_right_operand_are_neighbours) {
  const Kernel kernel{Elements(8), Elements(4)};
  const auto reads_well = [&](const char* label, const char* sizes, const char* m, const char* n,
                              const char* k) {
    const Contraction c =
        parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
    return reads_well_in_place(c, {m, n, k, ""}, kernel).right;
  };
  EXPECT_TRUE(reads_well("ab-ac-cb", "a=16,b=9,c=5", "a", "b", "c"));
  EXPECT_TRUE(reads_well("ab-ac-bc", "a=16,b=9,c=5", "a", "b", "c"));
  EXPECT_TRUE(reads_well("abd-ac-bdc", "a=16,b=9,c=5,d=4", "a", "bd", "c"));
  EXPECT_FALSE(reads_well("abd-ac-bdc", "a=16,b=9,c=5,d=4", "a", "db", "c"));
  EXPECT_FALSE(reads_well("abd-ac-bcd", "a=16,b=9,c=5,d=4", "a", "bd", "c"));
}

TEST(In_place, The_right_operand_of_a_large_problem_is_packed) {
  const std::vector<Kernel> kernels{{Elements(8), Elements(4)}};
  EXPECT_TRUE(may_read_in_place(test::matmul(256, 128, 128), kernels).right);
  EXPECT_FALSE(may_read_in_place(test::matmul(257, 128, 128), kernels).right);
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

// What is read once or twice is not copied, and nine columns are not covered by eight and one.
TEST(In_place, The_optimizer_copies_nothing_of_a_small_problem) {
  const Optimized o = optimize(test::matmul(9, 128, 128), find_machine("zen5"));
  EXPECT_EQ(to_line(o.schedule), "groups m=j n=i k=k for m by 16 { kernel 16x9 }");
}

// A streams and is used 312 times: packing it would double its traffic.
TEST(In_place, The_optimizer_leaves_a_streaming_operand_where_it_is) {
  const Contraction c = find_suite("tccg").workloads[2];
  const Optimized o = optimize(c, find_machine("zen5"));
  EXPECT_TRUE(o.tiling.in_place.left);
  EXPECT_EQ(to_text(o.schedule).find("pack A"), std::string::npos);
  EXPECT_NE(to_text(o.schedule).find("pack B"), std::string::npos);
}

}  // namespace
}  // namespace tcsim
