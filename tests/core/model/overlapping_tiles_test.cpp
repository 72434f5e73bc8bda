// Tiles of a convolution's image, counted in closed form and one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/model/tile_lines.hpp"
#include "core/workload/affine.hpp"
#include "core/workload/request.hpp"
#include "tests/core/large_problems.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/groups.hpp"

namespace tcsim {
namespace {

TEST(Overlapping_tiles, Different_values_of_a_sum_are_counted_exactly) {
  for (std::int64_t a = 1; a <= 6; ++a) {
    for (std::int64_t b = 1; b <= 6; ++b) {
      for (std::int64_t m = 1; m <= 9; ++m) {
        for (std::int64_t n = 1; n <= 9; ++n) {
          std::set<std::int64_t> values;
          for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) values.insert(a * i + b * j);
          }
          EXPECT_EQ(different_values(a, static_cast<double>(m), b, static_cast<double>(n)),
                    static_cast<double>(values.size()))
              << a << " i + " << b << " j, " << m << " by " << n;
        }
      }
    }
  }
}

// What the tile at the given beginnings of its groups touches of A.
std::pair<double, double> counted(const Contraction& c, const Groups& groups,
                                  const ByGroup<std::int64_t>& begin,
                                  const ByGroup<std::int64_t>& size, std::int64_t line) {
  std::vector<std::int64_t> offsets{0};
  for (DimClass g : {DimClass::m, DimClass::k, DimClass::batch}) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = begin[g]; i < begin[g] + size[g]; ++i) {
      std::int64_t offset = 0, rest = i;
      for (DimId d : groups[g]) {
        offset += rest % c.dim(d).extent * c.stride(TensorId::A, d).value();
        rest /= c.dim(d).extent;
      }
      for (std::int64_t o : offsets) all.push_back(o + offset);
    }
    offsets = all;
  }
  std::set<std::int64_t> elements(offsets.begin(), offsets.end()), lines;
  for (std::int64_t o : elements) lines.insert(o / line);
  return {static_cast<double>(elements.size()), static_cast<double>(lines.size())};
}

TEST(Overlapping_tiles, Elements_and_lines_are_those_that_an_enumeration_finds) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  test::Random random(seed);
  double sum = 0;
  int cases = 0;
  for (int i = 0; i < 200; ++i) {
    const auto pick = [&](const std::vector<std::int64_t>& of) { return random.pick(of); };
    const std::int64_t x = pick({7, 8, 14, 17}), y = pick({6, 9, 14}), c = pick({1, 3, 8, 16});
    const std::int64_t r = pick({1, 2, 3, 5}), s = pick({1, 3}), stride = pick({1, 1, 2, 3});
    const std::int64_t dilation = pick({1, 1, 2});
    const std::string layout = random.chance(50) ? "nchw" : "nhwc";
    const Contraction conv =
        find_workload({"conv2d",
                       "n=2,k=4,c=" + std::to_string(c) + ",y=" + std::to_string(y) +
                           ",x=" + std::to_string(x) + ",r=" + std::to_string(r) +
                           ",s=" + std::to_string(s) + ",stride=" + std::to_string(stride) +
                           ",dilation=" + std::to_string(dilation) + ",layout=" + layout,
                       {},
                       {}});
    const Groups groups = test::groups(conv, {"xyn", "k", layout == "nchw" ? "src" : "csr", ""});
    constexpr std::int64_t line = 16;
    const TileLines tile_lines(conv, groups, TensorId::A, line);
    // Tiles that cover their dimensions evenly: a part of the first ones that divides them.
    ByGroup<std::int64_t> size{1, 1, 1, 1}, all{1, 1, 1, 1};
    for (DimClass g : {DimClass::m, DimClass::k}) {
      bool whole = true;
      for (DimId d : groups[g]) {
        const std::int64_t extent = conv.dim(d).extent;
        all[g] *= extent;
        if (!whole) continue;
        std::int64_t part = extent;
        if (random.chance(50)) {
          do part = random.between(1, extent);
          while (extent % part != 0);
        }
        size[g] *= part;
        whole = part == extent;
      }
    }
    const Extents tile{static_cast<double>(size[DimClass::m]), 1,
                       static_cast<double>(size[DimClass::k]), 1};
    double lines = 0;
    int tiles = 0;
    ByGroup<std::int64_t> begin{0, 0, 0, 0};
    for (begin[DimClass::m] = 0; begin[DimClass::m] < all[DimClass::m];
         begin[DimClass::m] += size[DimClass::m]) {
      for (begin[DimClass::k] = 0; begin[DimClass::k] < all[DimClass::k];
           begin[DimClass::k] += size[DimClass::k]) {
        const auto [elements, in_lines] = counted(conv, groups, begin, size, line);
        ASSERT_EQ(tile_lines.elements(tile), elements) << conv.label() << ' ' << conv.sizes();
        lines += in_lines;
        ++tiles;
      }
    }
    const double error = tile_lines.lines(tile) / (lines / tiles) - 1;
    sum += std::abs(error);
    ++cases;
    // Where tiles begin within a line matters for a tile of few.
    if (lines / tiles < 4) continue;
    EXPECT_LT(std::abs(error), 0.6)
        << conv.label() << ' ' << conv.sizes() << " tile " << size[DimClass::m] << " x "
        << size[DimClass::k] << ": " << tile_lines.lines(tile) << " for " << lines / tiles;
  }
  EXPECT_LT(sum / cases, 0.06);
}

}  // namespace
}  // namespace tcsim
