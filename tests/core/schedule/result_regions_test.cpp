#include "core/schedule/result_regions.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/schedule/path.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

using Direction = ResultRegions::Direction;

constexpr std::int64_t lanes = 8;  // of 512 bits

ResultRegions regions(const char* label, const char* sizes, const char* text) {
  const Contraction c =
      parse_contraction(label, parse_sizes(sizes), Layout::column_major, ElementType::f64);
  const Schedule s = parse_schedule(text, c, "test");
  return result_regions(c, s.groups, only_path(c, s), lanes);
}

TEST(ResultRegions, Are_where_no_rows_are_neighbours_in_C) {
  constexpr const char* text = "groups m=a n=b k=k for m by 24 { for n by 8 { kernel 24x8 } }";
  EXPECT_FALSE(regions("ab-ak-bk", "a=100,b=20,k=9", text).used());
  const ResultRegions columns = regions("ba-ak-bk", "a=100,b=20,k=9", text);
  EXPECT_EQ(columns.direction, Direction::columns);
  EXPECT_EQ(columns.depth, 0U);
  EXPECT_FALSE(columns.within_blocks);
  EXPECT_EQ(columns.sizes[DimClass::m], 100);
  EXPECT_EQ(columns.sizes[DimClass::n], 20);
  // A kernel of one row has no rows that could be apart.
  EXPECT_FALSE(regions("ba-ak-bk", "a=100,b=20,k=9",
                       "groups m=a n=b k=k for m by 1 { for n by 8 { kernel 1x8 } }")
                   .used());
  EXPECT_FALSE(regions("ba-ak-bk", "a=100,b=20,k=9",
                       "groups m=a n=b k=k for m by 2 { for n by 8 { kernel 2x8 along k } }")
                   .used());
  // Three neighbours are too few.
  EXPECT_FALSE(
      regions("ba-ak-bk", "a=100,b=3,k=9", "groups m=a n=b k=k for m by 24 { kernel 24x3 }")
          .used());
  // The kernel's columns may be fewer than a region's.
  EXPECT_EQ(regions("ba-ak-bk", "a=100,b=20,k=9",
                    "groups m=a n=b k=k for n by 3 { for m by 24 { kernel 24x3 } }")
                .sizes[DimClass::n],
            20);
}

TEST(ResultRegions, Have_neighbours_among_places_or_rows_further_on) {
  const ResultRegions places =
      regions("cab-akc-bkc", "a=80,b=20,c=10,k=9",
              "groups m=a n=b k=k batch=c for batch by 8 { for batch by 1 { for m by 24 { for n "
              "by 8 { kernel 24x8 } } } }");
  EXPECT_EQ(places.direction, Direction::places);
  EXPECT_EQ(places.depth, 1U);  // 88 x 20 x 10 are 138 KiB, with a line that fills a column up
  EXPECT_EQ(places.sizes[DimClass::batch], 8);

  const ResultRegions rows =
      regions("bac-abk-ck", "a=30,b=7,c=20,k=9",
              "groups m=ab n=c k=k for n by 8 { for m by 24 { kernel 24x8 } }");
  EXPECT_EQ(rows.direction, Direction::rows);
  EXPECT_EQ(rows.period, 30);
  EXPECT_EQ(rows.behind, 7);
}

TEST(ResultRegions, Stay_in_the_second_cache) {
  // Of 128 KiB, 16384 results: inside the loop over columns, all of k.
  const ResultRegions inside = regions("ba-ak-bk", "a=1000,b=200,k=90",
                                       "groups m=a n=b k=k for n by 16 { for k by 30 { for m by 24 "
                                       "{ for n by 8 { kernel 24x8 } } } }");
  EXPECT_EQ(inside.depth, 1U);
  EXPECT_FALSE(inside.within_blocks);
  EXPECT_EQ(inside.sizes[DimClass::m], 1000);
  EXPECT_EQ(inside.sizes[DimClass::n], 16);
  EXPECT_EQ(inside.most_results(ElementType::f64), 16 * 1000);
  // Blocks that are too large are cut, along their inner loop where one iteration of the outer one
  // is too large as well.
  const ResultRegions wide =
      regions("ba-ak-bk", "a=100,b=2000,k=9",
              "groups m=a n=b k=k for n by 8 { for m by 24 { kernel 24x8 } }");
  EXPECT_TRUE(wide.within_blocks);
  EXPECT_EQ(wide.sizes[DimClass::m], 100);
  EXPECT_EQ(wide.sizes[DimClass::n], 16384 / (104 * 8) * 8);
  const ResultRegions tall =
      regions("ba-ak-bk", "a=10000,b=2000,k=9",
              "groups m=a n=b k=k for n by 8 { for m by 24 { kernel 24x8 } }");
  EXPECT_TRUE(tall.within_blocks);
  EXPECT_EQ(tall.sizes[DimClass::m], 16384 / (24 * 8) * 24);
  EXPECT_EQ(tall.sizes[DimClass::n], 8);
}

TEST(ResultRegions, Of_blocks_are_whole_tiles_and_fit) {
  std::mt19937_64 random(1);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t row_tile = between(1, 256), column_tile = between(1, 14);
    const std::int64_t rows = between(row_tile, 20000), columns = between(column_tile, 2000);
    const ElementType type = i % 2 == 0 ? ElementType::f64 : ElementType::f32;
    const RegionOfBlock r = region_of_block(rows, columns, row_tile, column_tile, i % 3 == 0, type);
    EXPECT_TRUE(r.rows % row_tile == 0 || r.rows == rows);
    EXPECT_TRUE(r.columns % column_tile == 0 || r.columns == columns);
    const std::int64_t bytes = buffer_column(r.rows, type) * r.columns * size_of(type).value();
    EXPECT_LE(bytes, 128 << 10) << rows << " " << columns << " " << row_tile << " " << column_tile;
  }
}

// The next neighbour of a row in C lies behind `a` others, and there are `b` of them.
TEST(ResultRegions, Do_not_hold_neighbours_that_are_too_far_apart) {
  const auto too_far = [](const char* sizes) {
    const Contraction c =
        parse_contraction("bac-abk-ck", parse_sizes(sizes), Layout::column_major, ElementType::f64);
    return too_far_apart(
        c, parse_schedule("groups m=ab n=c k=k kernel 1x1", c, "test").groups[DimClass::m]);
  };
  EXPECT_FALSE(too_far("a=4000,b=100,c=2,k=2"));
  EXPECT_TRUE(too_far("a=5000,b=100,c=2,k=2"));
  EXPECT_FALSE(too_far("a=5000,b=3,c=2,k=2"));
}

}  // namespace
}  // namespace tcsim
