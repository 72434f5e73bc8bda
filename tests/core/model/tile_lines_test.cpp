#include "core/model/tile_lines.hpp"

#include <gtest/gtest.h>

#include "tests/core/build.hpp"
#include "tests/groups.hpp"

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

}  // namespace
}  // namespace tcsim
