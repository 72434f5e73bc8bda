// Parts of tiles as rows and as blocks, beside going through them element by element.
#include "chains/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "chains/tensors.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

using fusion::Range;

// Places of a part's elements in the whole, row-major.
std::vector<std::int64_t> places_of(const std::vector<Range>& whole,
                                    const std::vector<Range>& part) {
  std::vector<std::int64_t> places{0};
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    std::vector<std::int64_t> longer;
    for (std::int64_t place : places) {
      for (std::int64_t i = 0; i < part[axis].size; ++i) {
        longer.push_back(place * whole[axis].size + part[axis].begin - whole[axis].begin + i);
      }
    }
    places = std::move(longer);
  }
  return places;
}

TEST(TileRows, AreCopiedAndCountedAsElementByElement) {
  std::mt19937_64 random(test::new_seed());
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  int of_all_lengths = 0;
  for (int trial = 0; trial < test::draws(2000); ++trial) {
    std::vector<Range> whole, part;
    for (std::int64_t axes = pick(0, 4); axes > 0; --axes) {
      const std::int64_t most = axes == 1 && pick(0, 3) == 0 ? 300 : 12;
      const Range w{pick(0, 5), pick(1, most)};
      const std::int64_t size = pick(0, 2) == 0 ? w.size : pick(1, w.size);
      whole.push_back(w);
      part.push_back({w.begin + pick(0, w.size - size), size});
    }
    const std::vector<std::int64_t> places = places_of(whole, part);
    std::vector<double> tile(static_cast<std::size_t>(elements_of(whole)));
    std::iota(tile.begin(), tile.end(), 1);
    std::vector<double> own(places.size());
    copy_out(whole, part, tile.data(), own.data());
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_EQ(own[i], tile[static_cast<std::size_t>(places[i])]);
      rows += i == 0 || places[i] != places[i - 1] + 1;
      own[i] = -own[i];
    }
    EXPECT_EQ(count_rows(whole, part), rows);
    std::vector<double> expected = tile;
    for (std::size_t i = 0; i < places.size(); ++i) {
      expected[static_cast<std::size_t>(places[i])] = own[i];
    }
    copy_in(whole, part, tile.data(), own.data());
    EXPECT_EQ(tile, expected);
    of_all_lengths |= 1 << std::min<std::int64_t>(9, elements_of(part) / rows);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(of_all_lengths, test::found(0x3fe));
}

// Each element is in the block that its indices say, and blocks are in row-major order of those.
TEST(TileBlocks, HaveEachElementOnceInOrder) {
  std::mt19937_64 random(test::new_seed());
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int trial = 0; trial < test::draws(1000); ++trial) {
    std::vector<Range> whole;
    Extents block, origin;
    for (std::int64_t axes = pick(0, 4); axes > 0; --axes) {
      whole.push_back({pick(0, 9), pick(1, 7)});
      block.push_back(pick(1, 5));
      origin.push_back(pick(0, whole.back().begin));
    }
    const Blocks blocks(whole, block, origin);
    std::vector<Extents> numbers;  // of each block, by axis
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < blocks.count(); ++i) {
      const std::vector<Range> at = blocks[i];
      Extents number;
      for (std::size_t axis = 0; axis < at.size(); ++axis) {
        const auto of = [&](std::int64_t place) { return (place - origin[axis]) / block[axis]; };
        ASSERT_GT(at[axis].size, 0);
        EXPECT_EQ(of(at[axis].begin), of(at[axis].begin + at[axis].size - 1));
        number.push_back(of(at[axis].begin));
      }
      numbers.push_back(number);
      for (std::int64_t place : places_of(whole, at)) places.push_back(place);
    }
    EXPECT_EQ(std::ranges::adjacent_find(numbers, std::ranges::greater_equal()), numbers.end());
    std::ranges::sort(places);
    std::vector<std::int64_t> all(static_cast<std::size_t>(elements_of(whole)));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(places, all);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tcsim::chains
