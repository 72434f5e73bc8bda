// Chunks of files fit the tiles that schedules move.
#include "core/fusion/chunks.hpp"

#include <gtest/gtest.h>

#include "tests/core/fusion/chains.hpp"

namespace tcsim::fusion {
namespace {

using Extents = std::vector<std::int64_t>;

TEST(Chunks, DivideTheTiles) {
  const OperationTree tree = pair_of(400, 40, 126, 100);
  const auto at = [&](const char* name) {
    return static_cast<int>(std::ranges::find(tree.arrays, name, &OperationTree::Array::name) -
                            tree.arrays.begin());
  };
  // C in tiles of 100 x 63, A and D whole, B in tiles of 100 x 40.
  const FusedNode node = parse_fused(
      "load A { load D { for a by 100 { store B { hold T { seq {"
      " for p by 63 { load C { do T } } do B } } } } } }",
      tree, "test");
  check(tree, node, "test");
  const Chunks chunks(tree, {&node});
  // Neither is 64 KiB. Inner axes grow by whole tiles, as far as there are any.
  EXPECT_EQ(chunks.of(at("C")), (Extents{100, 126}));
  EXPECT_EQ(chunks.of(at("B")), (Extents{300, 40}));
  EXPECT_EQ(chunks.of(at("A")), (Extents{126, 100}));
  // Cut down along the outermost axes, so that what is left lies together in a tile.
  EXPECT_EQ(chunks.of(at("C"), Bytes(30000)), (Extents{25, 126}));
  EXPECT_EQ(chunks.of(at("A"), Bytes(20000)), (Extents{21, 100}));
  EXPECT_EQ(chunks.of(at("A"), Bytes(800)), (Extents{1, 100}));
  EXPECT_EQ(chunks.of(at("A"), Bytes(420)), (Extents{1, 50}));
  EXPECT_EQ(chunks.of(at("A"), Bytes(1)), (Extents{1, 1}));
  // What fits into the tiles of both.
  const FusedNode other = parse_fused(
      "hold T { seq { for a by 60 { load A { load C { do T } } } load D { store B { do B } } } }",
      tree, "test");
  check(tree, other, "test");
  EXPECT_EQ(Chunks(tree, {&node, &other}).of(at("C"), Bytes(20000)), (Extents{15, 126}));
}

// A prime number of rows. All of the axis: parts of nearly one size. Of an axis with several such
// tiles: parts of the axis behind it, where they are not short, or parts of nearly one size, where
// single rows would be tiny.
TEST(Chunks, OfAxesThatHaveNoDivisors) {
  const auto chunk = [](int rows, int tile, int columns, Bytes most) {
    const OperationTree tree = pair_of(rows, 40, columns, 100);
    const auto c = static_cast<int>(
        std::ranges::find(tree.arrays, "C", &OperationTree::Array::name) - tree.arrays.begin());
    const FusedNode node =
        parse_fused("load A { load D { for a by " + std::to_string(tile) +
                        " { load C { store B { hold T { seq { do T do B } } } } } } }",
                    tree, "test");
    check(tree, node, "test");
    return Chunks(tree, {&node}).of(c, most);
  };
  EXPECT_EQ(chunk(97, 97, 200000, Bytes(2 << 20)), (Extents{1, 200000}));
  EXPECT_EQ(chunk(97, 97, 40000, Bytes(2 << 20)), (Extents{6, 40000}));
  EXPECT_EQ(chunk(97, 97, 4000, Bytes(2 << 20)), (Extents{49, 4000}));
  EXPECT_EQ(chunk(97, 97, 4001, Bytes(1100000)), (Extents{33, 4001}));
  EXPECT_EQ(chunk(960, 96, 40000, Bytes(2 << 20)), (Extents{6, 40000}));
  EXPECT_EQ(chunk(970, 97, 4000, Bytes(1100000)), (Extents{97, 1334}));
  EXPECT_EQ(chunk(1060, 106, 5000, Bytes(2 << 20)), (Extents{106, 1667}));
  EXPECT_EQ(chunk(9700, 97, 400, Bytes(100000)), (Extents{25, 400}));
}

// Tiles of 40 and of 60 rows are both whole chunks of 20, where those are not too small.
TEST(Chunks, DivideTilesOfDifferentSizes) {
  const OperationTree tree = pair_of(120, 40, 2000, 100);
  const auto c = static_cast<int>(std::ranges::find(tree.arrays, "C", &OperationTree::Array::name) -
                                  tree.arrays.begin());
  const auto tiles_of = [&](int rows) {
    FusedNode node = parse_fused("load A { load D { for a by " + std::to_string(rows) +
                                     " { store B { hold T { seq { load C { do T } do B } } } } } }",
                                 tree, "test");
    check(tree, node, "test");
    return node;
  };
  const FusedNode small = tiles_of(40), large = tiles_of(60), odd = tiles_of(39);
  EXPECT_EQ(Chunks(tree, {&small, &large}).of(c), (Extents{20, 2000}));
  EXPECT_EQ(Chunks(tree, {&small, &odd}).of(c), (Extents{39, 2000}));
}

}  // namespace
}  // namespace tcsim::fusion
