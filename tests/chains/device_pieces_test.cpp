// Pieces of a tile on its way to a device: each lies as it is in the tile's memory, and all of them
// are the tile.
#include "chains/levels/device_pieces.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/chains/levels/device_double.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

using fusion::Range;

TEST(DevicePieces, Are_the_tile_one_behind_another) {
  std::mt19937_64 random(test::new_seed());
  const auto draw = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(1, most)(random);
  };
  std::int64_t pieces_of_all = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Range> tile;
    for (std::int64_t axes = draw(4); axes > 0; --axes) tile.push_back({draw(9) - 1, draw(6)});
    const std::int64_t most = draw(40), all = elements_of(tile);
    std::int64_t next = 0, pieces = 0;
    for_each_piece(tile, most, [&](const std::vector<Range>& part, std::int64_t first) {
      ASSERT_EQ(first, next);
      ASSERT_LE(elements_of(part), most);
      // Where the part's elements are in the tile, one by one.
      std::vector<std::int64_t> places;
      for_each_rows(tile, part, part, true, [&](const Rows& r) {
        for (std::int64_t row = 0; row < r.count; ++row) {
          for (std::int64_t i = 0; i < r.length; ++i)
            places.push_back(r.place + row * r.distance + i);
        }
      });
      ASSERT_EQ(static_cast<std::int64_t>(places.size()), elements_of(part));
      for (std::int64_t place : places) ASSERT_EQ(place, next++);
      ++pieces;
    });
    ASSERT_EQ(next, all);
    // Not many more than have to be: each but the last of an axis has more than half.
    ASSERT_LE(pieces, std::max<std::int64_t>(1, 1 + 4 * all / most * 2));
    pieces_of_all += pieces;
  }
  EXPECT_GT(pieces_of_all, 1000);
}

// There and back, in several pieces: each is put together while the one before is under way.
TEST(DevicePieces, Go_there_and_come_back) {
  constexpr std::int64_t row = 3001;
  const std::int64_t rows = 10 * Device<double>::piece / (3 * row);
  const std::vector<Range> tile{{5, rows}, {2, row}};
  std::vector<double> there(static_cast<std::size_t>(rows * row)), back(there.size(), -1);
  std::iota(there.begin(), there.end(), 1.0);
  DeviceCalls calls;
  const fusion::OperationTree tree = fusion::pair_of(4);
  DeviceDouble<double> device(tree, rows * row + 100, {}, calls);
  const auto at = [&](std::vector<double>& all, const std::vector<Range>& part) {
    return all.begin() + (part[0].begin - 5) * row + part[1].begin - 2;
  };
  send_tile(device, 77, tile, [&](const std::vector<Range>& part, double* to) {
    std::copy_n(at(there, part), elements_of(part), to);
  });
  EXPECT_GT(calls.done, 4);
  fetch_tile(device, 77, tile, [&](const std::vector<Range>& part, const double* from) {
    std::copy_n(from, elements_of(part), at(back, part));
  });
  EXPECT_EQ(back, there);
}

}  // namespace
}  // namespace tcsim::chains
