#include "core/model/tile_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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

}  // namespace
}  // namespace tcsim
