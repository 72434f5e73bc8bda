#include "core/model/tile_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "core/workload/request.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/groups.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

TEST(Tile_lines, Runs_follow_memory_order) {
  // Row-major A[i][k] of 40 x 24: a row is 3 lines of 8 elements.
  const Contraction c = test::matmul(40, 40, 24);
  const TileLines lines(c, test::groups(c, {"i", "j", "k", ""}), TensorId::A, 8);
  EXPECT_DOUBLE_EQ(lines.lines({1, 1, 24, 1}), 3);
  EXPECT_DOUBLE_EQ(lines.lines({5, 1, 24, 1}), 15);  // whole rows run into one another
  EXPECT_DOUBLE_EQ(lines.run({5, 1, 24, 1}), 120);
  EXPECT_DOUBLE_EQ(lines.lines({5, 1, 8, 1}), 5);       // one whole line a row
  EXPECT_DOUBLE_EQ(lines.lines({5, 1, 12, 1}), 5 * 2);  // runs begin at multiples of 4: 16/8 lines
  EXPECT_DOUBLE_EQ(lines.lines({40, 1, 24, 1}), 120);
  // A tile of one k: every row's element is in a line of its own.
  EXPECT_DOUBLE_EQ(lines.lines({40, 1, 1, 1}), 40);
}

TEST(Tile_lines, Fused_groups_cover_their_dimensions_in_order) {
  // C[a,b,c,d] column-major, m = ac: a tile of 24 of a=24 and c=16 covers all of a and one c; one
  // of 48 covers two c, which lie 24*16 elements apart (b between them).
  const Contraction c =
      parse_contraction("abcd-ack-bdk", {{'a', 24}, {'b', 16}, {'c', 16}, {'d', 4}, {'k', 8}},
                        Layout::column_major, ElementType::f64);
  const TileLines lines(c, test::groups(c, {"ac", "bd", "k", ""}), TensorId::C, 8);
  EXPECT_DOUBLE_EQ(lines.run({24, 1, 1, 1}), 24);
  EXPECT_DOUBLE_EQ(lines.run({48, 1, 1, 1}), 24);
  EXPECT_DOUBLE_EQ(lines.lines({48, 1, 1, 1}), 6);
  EXPECT_DOUBLE_EQ(lines.run({24, 16, 1, 1}), 24 * 16);  // a and b whole
  EXPECT_DOUBLE_EQ(lines.run({48, 16, 1, 1}), 24 * 16 * 2);
}

TEST(Tile_lines, Rows_of_a_larger_array_have_lines_of_their_own) {
  // Rows of 21 elements in an array with rows of 24: each begins with a line and ends within its
  // third one.
  const Contraction c = find_workload({"O[c,x,k] += I[c,x+2*s of 24] * W[k,s]", "c=2,x=21,k=3,s=1",
                                       std::nullopt, ElementType::f64});
  const TileLines lines(c, test::groups(c, {"xc", "k", "s", ""}), TensorId::A, 8);
  EXPECT_FALSE(lines.overlaps());
  EXPECT_DOUBLE_EQ(lines.lines({42, 3, 1, 1}), 6);
  EXPECT_DOUBLE_EQ(lines.lines({21, 3, 1, 1}), 3);
}

// Elements of t at the first `tile` indices of every group, one by one.
std::vector<std::int64_t> elements(const Contraction& c, const Groups& groups, TensorId t,
                                   const Extents& tile) {
  std::vector<std::int64_t> all{0};
  for (DimClass g : all_dim_classes) {
    std::vector<std::int64_t> longer;
    for (std::int64_t at : all) {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(tile[g]); ++i) {
        std::int64_t element = at, rest = i;
        for (DimId d : groups[g]) {
          if (c.stride(t, d).value() > 0) {
            element += rest % c.dim(d).extent * c.stride(t, d).value();
          }
          rest /= c.dim(d).extent;
        }
        longer.push_back(element);
      }
    }
    all = longer;
  }
  return all;
}

// Each line is there once, wherever the tile begins.
TEST(Tile_lines, Runs_are_the_lines_of_all_elements) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 500; ++i) {
    const Contraction c = test::random_contraction(random);
    const Groups groups = test::random_schedule(c, random).groups;
    const std::int64_t line = random.pick(std::vector<std::int64_t>{1, 2, 4, 8});
    for (TensorId t : all_tensors) {
      const TileLines lines(c, groups, t, static_cast<double>(line));
      Extents tile;
      for (DimClass g : all_dim_classes) {
        tile[g] = static_cast<double>(random.between(1, lines.extent(g)));
      }
      const std::int64_t begin = random.between(0, 2 * line);
      std::vector<std::int64_t> expected, found;
      for (std::int64_t e : elements(c, groups, t, tile)) expected.push_back((begin + e) / line);
      std::ranges::sort(expected);
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      lines.for_each_run(lines.places(tile), begin, [&](std::int64_t first, std::int64_t n) {
        for (std::int64_t l = first; l < first + n; ++l) found.push_back(l);
      });
      std::ranges::sort(found);
      ASSERT_EQ(found, expected) << c.label() << ' ' << c.sizes() << " line " << line << " tensor "
                                 << index(t) << " tile " << tile[DimClass::m] << ' '
                                 << tile[DimClass::n] << ' ' << tile[DimClass::k] << ' '
                                 << tile[DimClass::batch];
    }
  }
}

// Of C[b,x,d] row-major with 39 d, m = db. Tiles of 48 begin at multiples of 3 in a row, so one has
// parts of (48 + 39 - 3) / 39 rows on average. Between rows there are those of other x.
TEST(Tile_lines, Tiles_that_end_within_a_row_are_in_more_pieces) {
  const Contraction c = parse_contraction("bxd-dbk-xk", {{'b', 16}, {'d', 39}, {'x', 5}, {'k', 2}},
                                          Layout::row_major, ElementType::f64);
  const TileLines lines(c, test::groups(c, {"db", "x", "k", ""}), TensorId::C, 8);
  const double pieces = (48.0 + 39 - 3) / 39;
  EXPECT_DOUBLE_EQ(lines.run({48, 1, 1, 1}), 48 / pieces);
  // Pieces begin anywhere in a line, as 39 is odd, and so each reaches 7/8 of a line further.
  EXPECT_DOUBLE_EQ(lines.lines({48, 1, 1, 1}), 48.0 / 8 + pieces * 7 / 8);
  // As many indices that begin at whole rows.
  EXPECT_DOUBLE_EQ(lines.run({78, 1, 1, 1}), 39);
  EXPECT_DOUBLE_EQ(lines.lines({78, 1, 1, 1}, {1, 1, 1, 1}), 78.0 / 8 + (78.0 + 38) / 39 * 7 / 8);
}

// Elements of the tile from `begin` on.
std::vector<std::int64_t> tile_elements(const Contraction& c, const Groups& groups, TensorId t,
                                        const Extents& begin, const Extents& tile) {
  std::vector<std::int64_t> all{0};
  for (DimClass g : all_dim_classes) {
    std::vector<std::int64_t> longer;
    for (std::int64_t at : all) {
      for (auto i = static_cast<std::int64_t>(begin[g]);
           i < static_cast<std::int64_t>(begin[g] + tile[g]); ++i) {
        std::int64_t element = at, rest = i;
        for (DimId d : groups[g]) {
          element += rest % c.dim(d).extent * c.stride(t, d).value();
          rest /= c.dim(d).extent;
        }
        longer.push_back(element);
      }
    }
    all = longer;
  }
  return all;
}

// The mean over all whole tiles along m, which begin within rows as often as not.
TEST(Tile_lines, Are_the_mean_over_tiles_that_begin_anywhere) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  double sum = 0, signed_sum = 0;
  int draws = 0;
  for (; draws < 300; ++draws) {
    // C's dimensions in any order, three of m and one of n.
    std::string order = "abcx";
    random.shuffle(order);
    Sizes sizes;
    for (char name : std::string("abcx")) sizes[name] = random.between(3, 19);
    sizes['k'] = 2;
    const Contraction c =
        parse_contraction("abck,kx->" + order, sizes, Layout::row_major, ElementType::f64);
    const Groups groups = test::groups("abcxk", {"abc", "x", "k", ""});
    const TileLines lines(c, groups, TensorId::C, 8);
    const std::int64_t m = lines.extent(DimClass::m);
    Extents tile{static_cast<double>(random.between(2, m / 3)),
                 static_cast<double>(random.between(1, sizes['x'])), 1, 1};
    double found = 0, tiles = 0;
    for (double begin = 0; begin + tile[DimClass::m] <= static_cast<double>(m);
         begin += tile[DimClass::m], ++tiles) {
      std::vector<std::int64_t> touched;
      for (std::int64_t e : tile_elements(c, groups, TensorId::C, {begin, 0, 0, 0}, tile)) {
        touched.push_back(e / 8);
      }
      std::ranges::sort(touched);
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      found += static_cast<double>(touched.size());
    }
    const double error = lines.lines(tile) / (found / tiles) - 1;
    sum += std::abs(error);
    signed_sum += error;
  }
  EXPECT_LT(sum / draws, 0.1);
  EXPECT_LT(std::abs(signed_sum / draws), 0.09);
  std::cout << "mean error " << sum / draws << ", signed " << signed_sum / draws << "\n";
}

}  // namespace
}  // namespace tcsim
