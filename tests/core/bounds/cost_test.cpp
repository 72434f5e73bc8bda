#include "core/bounds/cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/bounds/footprint.hpp"
#include "tests/core/bounds/random_nest.hpp"

namespace tcsim::bounds {
namespace {

using test::OutputCost;
using test::Random;
using test::TinyNest;

// The order innermost last.
std::vector<DimId> order(const std::vector<int>& dims) {
  std::vector<DimId> result;
  for (int d : dims) result.push_back(DimId{d});
  return result;
}

TEST(Footprint, Counts_what_a_sum_takes) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    SizedTerms terms;
    std::set<std::int64_t> values{0};
    for (std::int64_t n = random.between(0, 4); n > 0; --n) {
      terms.emplace_back(random.between(1, 9), random.between(1, 5));
      std::set<std::int64_t> next;
      for (std::int64_t v : values) {
        for (std::int64_t t = 0; t < terms.back().second; ++t) {
          next.insert(v + t * terms.back().first);
        }
      }
      values = next;
    }
    bool exact = true;
    ASSERT_EQ(places_along(terms, exact), static_cast<double>(values.size()));
    EXPECT_TRUE(exact);
  }
}

// ioopt, section 2: Ni = 2000, Nj = Nk = 1500, S = 1024.
TEST(Cost, Counts_the_tiles_of_the_papers_matrix_product) {
  const Nest nest = to_nest(test::matrix_product(2000, 1500, 1500), {1, 1});
  const auto cost = cost_of(nest, {order({0, 1, 2}), {31, 31, 1}}, 1024);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->held, 31 * 31 + 31 + 31);
  // 65 and 49 tiles, not 2000 / 31 and 1500 / 31.
  EXPECT_EQ(cost->arrays[0].moved, 2000 * 1500);
  EXPECT_EQ(cost->arrays[1].moved, 2000.0 * 1500 * 49);
  EXPECT_EQ(cost->arrays[2].moved, 1500.0 * 1500 * 65);
  EXPECT_FALSE(cost_of(nest, {order({0, 1, 2}), {31, 31, 1}}, 1022));
}

// What each array's part of the store holds is followed through the loops, element by element.
double followed(const TinyNest& tiny, std::size_t array, const Tiling& tiling, int level) {
  const std::size_t dims = tiny.extents.size();
  const std::size_t loops = dims + 1 - static_cast<std::size_t>(level);  // outside what is held
  // By the tile numbers of those loops, the elements used; the map's order is that of execution.
  std::map<std::vector<int>, std::set<std::vector<int>>> used;
  std::vector<int> point(dims);
  for (std::int64_t i = 0; i < tiny.iterations(); ++i) {
    std::int64_t rest = i;
    for (std::size_t d = 0; d < dims; ++d) {
      point[d] = static_cast<int>(rest % tiny.extents[d]);
      rest /= tiny.extents[d];
    }
    std::vector<int> key, element;
    for (std::size_t l = 0; l < loops; ++l) {
      const auto d = static_cast<std::size_t>(index(tiling.permutation[l]));
      key.push_back(point[d] / static_cast<int>(tiling.tiles[d]));
    }
    for (const TinyNest::Axis& axis : tiny.arrays[array]) {
      int sum = 0;
      for (const auto& [d, c] : axis) sum += c * point[static_cast<std::size_t>(d)];
      element.push_back(sum);
    }
    used[key].insert(element);
  }
  double brought = 0;
  std::vector<int> before;
  std::set<std::vector<int>> held;
  for (const auto& [key, elements] : used) {
    // Only along the innermost of those loops something stays.
    const bool same = before.size() == key.size() && !key.empty() &&
                      std::equal(key.begin(), key.end() - 1, before.begin());
    if (!same) held.clear();
    for (const std::vector<int>& e : elements) brought += held.contains(e) ? 0 : 1;
    held = elements;
    before = key;
  }
  return brought;
}

TEST(Cost, Counts_what_is_brought_element_by_element) {
  Random random(77);
  for (int i = 0; i < 600; ++i) {
    const TinyNest tiny = test::random_tiny_nest(random, 200);
    const Nest nest = to_nest(tiny, {1, 1});
    Tiling tiling;
    for (std::size_t d = 0; d < nest.extents.size(); ++d) {
      tiling.permutation.push_back(DimId{static_cast<int>(d)});
      tiling.tiles.push_back(random.between(1, nest.extents[d]));
    }
    random.shuffle(tiling.permutation);
    for (std::size_t a = 0; a < nest.arrays.size(); ++a) {
      for (const ArrayCost& cost : costs_by_level(nest, nest.arrays[a], tiling)) {
        ASSERT_EQ(cost.moved, followed(tiny, a, tiling, cost.level))
            << describe(tiny) << " array " << a << " level " << cost.level;
      }
    }
  }
}

TEST(Cost, An_ideal_store_needs_no_more) {
  Random random(78);
  int compared = 0;
  for (int i = 0; i < 1500; ++i) {
    const TinyNest tiny = test::random_tiny_nest(random, 60);
    const OutputCost output = random.chance(50) ? OutputCost{1, 1} : OutputCost{0, 1};
    const Nest nest = to_nest(tiny, output);
    Tiling tiling;
    std::vector<int> permutation;
    for (std::size_t d = 0; d < nest.extents.size(); ++d) {
      permutation.push_back(static_cast<int>(d));
      tiling.tiles.push_back(random.between(1, nest.extents[d]));
    }
    random.shuffle(permutation);
    tiling.permutation = order(permutation);
    const int capacity = static_cast<int>(random.between(3, 20));
    const auto cost = cost_of(nest, tiling, capacity);
    if (!cost) continue;
    ++compared;
    const std::vector<int> tiles(tiling.tiles.begin(), tiling.tiles.end());
    const auto ideal = ideal_cost(unroll(tiny, permutation, tiles), capacity, output);
    ASSERT_TRUE(ideal);
    EXPECT_LE(static_cast<double>(*ideal), cost->moved) << describe(tiny) << " in " << capacity;
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace tcsim::bounds
