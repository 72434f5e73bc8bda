#include "core/model/set_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/model/occupancy.hpp"
#include "tests/core/build.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/groups.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// Row-major C[i][j] of 64 x 64 doubles: a row is 8 lines, so row i begins in line 8 i.
TEST(Set_counts, Follow_the_real_addresses) {
  const TileLines c(test::matmul(64, 64, 8), test::groups("ijk", {"j", "i", "k", ""}), TensorId::C,
                    8);
  SetCounter counter;
  // 16 rows of 8 elements: lines 0, 8, ..., 120. In 64 sets every eighth set holds two.
  const SetCounts* few = counter.count(c, {8, 16, 1, 1}, 64, 8);
  ASSERT_NE(few, nullptr);
  EXPECT_EQ(few->lines, 16);
  EXPECT_DOUBLE_EQ(few->share[2], 8.0 / 64);
  EXPECT_DOUBLE_EQ(few->share[0], 56.0 / 64);
  // Whole rows are contiguous: 128 lines, two in every set.
  EXPECT_DOUBLE_EQ(counter.count(c, {64, 16, 1, 1}, 64, 8)->share[2], 1);
  // More than `most` gathers in the last entry: 64 rows in 8 sets of 8.
  EXPECT_DOUBLE_EQ(counter.count(c, {8, 64, 1, 1}, 64, 4)->share[4], 8.0 / 64);
  EXPECT_EQ(SetCounter(100).count(c, {64, 64, 1, 1}, 64, 8), nullptr);  // 512 lines
  EXPECT_EQ(counter.count(c, {8, 16, 1, 1}, 64, 8), few);               // remembered
}

TEST(Set_counts, Decide_what_runs_would_not) {
  // The 16 rows above fall on 8 of 64 sets, two on each: a line of the array itself always has one
  // other in its set, a line of another array has two with a chance of 8 / 64.
  const TileLines c(test::matmul(64, 64, 8), test::groups("ijk", {"j", "i", "k", ""}), TensorId::C,
                    8);
  SetCounter counter;
  const SetCounts* counts = counter.count(c, {8, 16, 1, 1}, 64, 8);
  WindowPart own[] = {{16, 1, counts, true}};
  EXPECT_DOUBLE_EQ(miss_probability({64, 1}, own), 1);  // always one other
  EXPECT_DOUBLE_EQ(miss_probability({64, 2}, own), 0);  // never two
  WindowPart foreign[] = {{16, 1, counts, false}};
  EXPECT_DOUBLE_EQ(miss_probability({64, 2}, foreign), 8.0 / 64);
}

// Two tiles of four lines side by side, once on the same sets and once on different ones.
TEST(Set_counts, Of_tiles_together_depend_on_where_they_begin) {
  SetCounts tile;
  tile.lines = 4;
  tile.beginnings = {0};
  tile.by_set = {{1, 1, 1, 1, 0, 0, 0, 0}};
  SetCounter counter;
  const auto together = [&](std::int64_t second, int own) {
    std::array<PlacedTile, 2> tiles{PlacedTile{&tile, 4, {}}, PlacedTile{&tile, 4, {}}};
    tiles[1].begin.fill(8 * second);
    return counter.together(tiles, own, 8, 4, 8).share;
  };
  using Shares = std::vector<double>;
  EXPECT_EQ(together(0, -1), (Shares{0.5, 0, 0.5, 0, 0}));
  EXPECT_EQ(together(4, -1), (Shares{0, 1, 0, 0, 0}));
  EXPECT_EQ(together(2, -1), (Shares{0.25, 0.5, 0.25, 0, 0}));
  // In the set of a line of the first one, without that line.
  EXPECT_EQ(together(0, 0), (Shares{0, 1, 0, 0, 0}));
  EXPECT_EQ(together(4, 0), (Shares{1, 0, 0, 0, 0}));
  EXPECT_EQ(together(10, 0), (Shares{0.5, 0.5, 0, 0, 0}));
}

// Half of the second tile's lines are there: one of them in a set is as likely as not.
TEST(Set_counts, Parts_of_lines_are_as_likely_as_they_are_large) {
  SetCounts tile;
  tile.lines = 8;
  tile.beginnings = {0};
  tile.by_set = {{1, 1, 1, 1, 1, 1, 1, 1}};
  SetCounter counter;
  const std::array<PlacedTile, 2> tiles{PlacedTile{&tile, 4, {}}, PlacedTile{&tile, 4, {}}};
  EXPECT_EQ(counter.together(tiles, -1, 8, 4, 8).share,
            (std::vector<double>{0.25, 0.5, 0.25, 0, 0}));
}

// The same set by set, and one way at a time in which parts of lines can be there or not.
std::vector<double> together_slowly(const std::vector<PlacedTile>& tiles, int own,
                                    std::int64_t sets, int most, std::int64_t line) {
  std::vector<double> share(static_cast<std::size_t>(most) + 1);
  double weight = 0;
  for (std::size_t place = 0; place < tile_places; ++place) {
    for (std::int64_t set = 0; set < sets; ++set) {
      double w = 1;
      std::vector<double> lines;
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        const SetCounts& counts = *tiles[i].counts;
        const std::int64_t begin = tiles[i].begin[place];
        std::size_t nearest = 0;
        while (nearest + 1 < counts.beginnings.size() &&
               counts.beginnings[nearest + 1] <= begin % line) {
          ++nearest;
        }
        const std::int64_t from = ((set - begin / line) % sets + sets) % sets;
        double n = counts.by_set[nearest][static_cast<std::size_t>(from)];
        if (static_cast<int>(i) == own) {
          w = n;
          n -= 1;
        }
        lines.push_back(n * tiles[i].lines / counts.lines);
      }
      if (w == 0) continue;
      weight += w;
      for (std::size_t there = 0; there < std::size_t{1} << tiles.size(); ++there) {
        double chance = 1;
        std::size_t all = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) {
          const double whole = std::floor(lines[i]), part = lines[i] - whole;
          const bool one_more = (there >> i & 1) != 0;
          chance *= one_more ? part : 1 - part;
          all += static_cast<std::size_t>(whole) + (one_more ? 1 : 0);
        }
        share[std::min(all, share.size() - 1)] += w * chance;
      }
    }
  }
  for (double& s : share) s /= weight;
  return share;
}

TEST(Set_counts, Together_are_as_set_by_set) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 500; ++i) {
    const std::int64_t sets = random.pick(std::vector<std::int64_t>{2, 6, 64, 128});
    const std::int64_t line = random.pick(std::vector<std::int64_t>{1, 8, 16});
    const int most = static_cast<int>(random.between(4, 32));
    std::vector<SetCounts> counts(static_cast<std::size_t>(random.between(2, most_placed)));
    std::vector<PlacedTile> tiles;
    for (SetCounts& c : counts) {
      c.beginnings = line > 1 && random.chance(50) ? std::vector<std::int64_t>{0, line / 2}
                                                   : std::vector<std::int64_t>{0};
      for (std::size_t b = 0; b < c.beginnings.size(); ++b) {
        std::vector<std::uint16_t>& lines = c.by_set.emplace_back();
        while (std::ssize(lines) < sets) {
          const auto n = static_cast<std::uint16_t>(random.between(0, random.between(0, most)));
          for (std::int64_t run = random.between(1, 9); run > 0 && std::ssize(lines) < sets;
               --run) {
            lines.push_back(n);
          }
        }
        lines.back() = 1;  // so that none is empty
        for (std::uint16_t n : lines) c.lines += n;
      }
      c.lines /= static_cast<double>(c.beginnings.size());
      PlacedTile& tile = tiles.emplace_back(PlacedTile{&c, c.lines, {}});
      if (random.chance(50)) tile.lines *= static_cast<double>(random.between(1, 15)) / 10;
      for (std::int64_t& begin : tile.begin) begin = random.between(0, 3 * sets * line);
    }
    const int own = static_cast<int>(random.between(-1, std::ssize(tiles) - 1));
    const SetCounts found = SetCounter().together(tiles, own, sets, most, line);
    const std::vector<double> expected = together_slowly(tiles, own, sets, most, line);
    ASSERT_EQ(found.share.size(), expected.size());
    for (std::size_t n = 0; n < expected.size(); ++n) {
      EXPECT_NEAR(found.share[n], expected[n], 1e-12) << n << " lines in a set";
    }
    const auto some = [](double share) { return share > 0; };
    const auto first = std::ranges::find_if(expected, some) - expected.begin();
    EXPECT_LE(found.least, first);
  }
}

}  // namespace
}  // namespace tcsim
