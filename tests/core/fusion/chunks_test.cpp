// Chunks of files fit the tiles that schedules move.
#include "core/fusion/chunks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/core/fusion/chains.hpp"
#include "tests/seed.hpp"

namespace tcsim::fusion {
namespace {

using Extents = std::vector<std::int64_t>;

int array(const OperationTree& tree, const char* name) {
  return static_cast<int>(std::ranges::find(tree.arrays, name, &OperationTree::Array::name) -
                          tree.arrays.begin());
}

FusedNode parsed(const OperationTree& tree, const std::string& text) {
  FusedNode node = parse_fused(text, tree, "test");
  check(tree, node, "test");
  return node;
}

// Of a pair of products: so many rows of C and B at a time.
FusedNode in_rows(const OperationTree& tree, int rows) {
  return parsed(tree,
                fmt::format("load A {{ load D {{ for a by {} {{ store B {{ hold T {{ seq {{ load C "
                            "{{ do T }} do B }} }} }} }} }} }}",
                            rows));
}

TEST(Chunks, DivideTheTiles) {
  const OperationTree tree = pair_of(400, 40, 126, 100);
  const auto at = [&](const char* name) { return array(tree, name); };
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
    const int c = array(tree, "C");
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

// Tiles of 40 and of 60 rows are both whole chunks of 20, where those are not too small. Of 40 and
// of 39 rows no chunks are both: 3 and 6 chunks of 40 rows are moved, but 6 and 4 of 39.
TEST(Chunks, DivideTilesOfDifferentSizes) {
  const OperationTree tree = pair_of(120, 40, 4000, 100);
  const int c = array(tree, "C");
  const FusedNode small = in_rows(tree, 40), large = in_rows(tree, 60), odd = in_rows(tree, 39);
  EXPECT_EQ(Chunks(tree, {&small, &large}).of(c), (Extents{20, 4000}));
  EXPECT_EQ(Chunks(tree, {&small, &odd}).of(c), (Extents{40, 4000}));
}

// What has a part of a chunk reads it before it writes it. Of 40 and of 39 rows: 3 chunks of 40 are
// written whole and 6 of them in parts, or 4 and 2 of 39 whole and 4 in parts.
TEST(Chunks, CountThatPartsAreReadAndWritten) {
  const OperationTree tree = pair_of(120, 4000, 40, 40);
  const int b = array(tree, "B");
  const FusedNode small = in_rows(tree, 40), odd = in_rows(tree, 39);
  EXPECT_EQ(Chunks(tree, {&small, &odd}).of(b), (Extents{39, 4000}));
}

// Each tile of 52 rows begins anew with tiles of 6, so only chunks of 2 rows have no part of two.
// For a schedule that reads all of it and one with tiles of 46 rows, chunks of 46: they are whole
// in both.
TEST(Chunks, BeginWhereTilesDo) {
  const auto chunk = [](std::int64_t rows, const std::vector<std::string>& texts) {
    const OperationTree tree = pair_of(rows, 40, 40000, 100);
    const int c = array(tree, "C");
    std::vector<FusedNode> nodes;
    std::vector<const FusedNode*> all;
    for (const std::string& text : texts) {
      nodes.push_back(parsed(tree, text));
    }
    for (const FusedNode& node : nodes) all.push_back(&node);
    return Chunks(tree, all).of(c);
  };
  const std::string nested =
      "load A { load D { store B { for a by 52 { "
      "hold T { seq { for a by 6 { load C { do T } } do B } } } } } }";
  EXPECT_EQ(chunk(104, {nested}), (Extents{2, 40000}));
  const std::string whole =
      "load A { load C { hold T { seq { do T load D { store B { do B } } } } } }";
  const std::string apart =
      "load A { load D { for a by 46 { store B { hold T { seq { load C { do T } do B } } } } } }";
  EXPECT_EQ(chunk(92, {whole, apart}), (Extents{46, 5000}));
}

// Beside what the old rule had, tiles of the smallest size: none moves more, and what is moved of
// chunks is counted here tile by tile.
TEST(Chunks, MoveNoMoreThanTheSmallestTiles) {
  std::mt19937_64 random(test::new_seed());
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int better = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::int64_t rows = pick(20, 200), columns = pick(400, 4000);
    const OperationTree tree = pair_of(static_cast<int>(rows), 8, static_cast<int>(columns), 8);
    const int c = array(tree, "C");
    struct Cut {
      std::int64_t outer, inner, columns;
    };
    std::vector<Cut> cuts;
    std::vector<FusedNode> nodes;
    for (int n = 0; n < 2; ++n) {
      const std::int64_t outer = pick(4, rows);
      cuts.push_back({outer, pick(2, outer), pick(100, columns)});
      nodes.push_back(parsed(
          tree, fmt::format(
                    "load A {{ load D {{ store B {{ for a by {} {{ hold T {{ seq {{ for a by {} {{ "
                    "for p by {} {{ load C {{ do T }} }} }} do B }} }} }} }} }} }}",
                    cuts.back().outer, cuts.back().inner, cuts.back().columns)));
    }
    const auto moved = [&](const Extents& chunk) {
      double chunks = 0;
      for (const Cut& cut : cuts) {
        for (std::int64_t o = 0; o < rows; o += cut.outer) {
          const std::int64_t end = std::min(rows, o + cut.outer);
          for (std::int64_t i = o; i < end; i += cut.inner) {
            for (std::int64_t p = 0; p < columns; p += cut.columns) {
              const std::int64_t last = std::min(end, i + cut.inner) - 1;
              const std::int64_t right = std::min(columns, p + cut.columns) - 1;
              chunks += static_cast<double>((last / chunk[0] - i / chunk[0] + 1) *
                                            (right / chunk[1] - p / chunk[1] + 1));
            }
          }
        }
      }
      return chunks * static_cast<double>(8 * chunk[0] * chunk[1] + begin_of_chunk.value());
    };
    const Extents chosen = Chunks(tree, {&nodes[0], &nodes[1]}).of(c);
    const Extents smallest{std::min(cuts[0].inner, cuts[1].inner),
                           std::min(cuts[0].columns, cuts[1].columns)};
    // Others grow or are cut.
    const std::int64_t bytes = 8 * smallest[0] * smallest[1];
    if (bytes < least_chunk.value() || bytes > usual_chunk.value()) continue;
    EXPECT_LE(moved(chosen), moved(smallest));
    better += moved(chosen) < 0.9 * moved(smallest);
  }
  EXPECT_GE(better, 1);
}

}  // namespace
}  // namespace tcsim::fusion
