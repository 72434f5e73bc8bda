#include "tests/core/bounds/least_loads.hpp"

#include <gtest/gtest.h>

#include "tests/core/bounds/random_nest.hpp"
#include "tests/draws.hpp"

namespace tcsim::test {
namespace {

constexpr OutputCost loads{1, 1};

TEST(LeastLoads, A_store_for_everything_brings_each_element_once) {
  const Unrolled product = unroll(matrix_product(2, 2, 2));
  EXPECT_EQ(product.elements, 12);
  EXPECT_EQ(product.outputs, 4);
  EXPECT_EQ(least_cost(product, 12, loads, 100000), 12);
  EXPECT_EQ(least_cost(product, 12, {0, 1}, 100000), 8);
  EXPECT_EQ(least_cost(product, 12, {2, 2}, 100000), 16);
  EXPECT_EQ(ideal_cost(product, 12, loads), 12);
  EXPECT_EQ(ideal_cost(product, 12, {0, 1}), 8);
  EXPECT_EQ(ideal_cost(product, 12, {1, 2}), 12);
}

TEST(LeastLoads, Three_elements_keep_one_from_a_product_to_the_next) {
  // Two multiply-adds of a matrix product have at most one element in common, and an order in
  // which all neighbours do is a path along the edges of a cube: 3 + 7 x 2.
  const Unrolled product = unroll(matrix_product(2, 2, 2));
  EXPECT_EQ(least_cost(product, 3, loads, 100000), 17);
  // In the order of the loops i j k, k keeps C alone and a step of j or i nothing: of eight, four
  // begin a sum.
  EXPECT_EQ(ideal_cost(product, 3, loads), 4 * 3 + 4 * 2);
  EXPECT_FALSE(least_cost(product, 2, loads, 100000));
  EXPECT_FALSE(ideal_cost(product, 2, loads));
}

TEST(LeastLoads, The_last_one_used_goes) {
  // A dot product keeps its sum: 1 + 2 n, whatever the capacity.
  TinyNest dot{{5}, {{}, {{{0, 1}}}, {{{0, 1}}}}};
  EXPECT_EQ(ideal_cost(unroll(dot), 3, loads), 11);
  EXPECT_EQ(least_cost(unroll(dot), 3, loads, 100000), 11);
  // o[x] += i[x + w] f[w], 3 x 2: w outermost keeps f and slides along o and i.
  TinyNest conv{{3, 2}, {{{{0, 1}}}, {{{0, 1}, {1, 1}}}, {{{1, 1}}}}};
  EXPECT_EQ(least_cost(unroll(conv), 9, loads, 100000), 3 + 4 + 2);
}

TEST(LeastLoads, No_tiled_nest_beats_the_best_order) {
  Random random(20260718);
  int compared = 0;
  for (int i = 0; i < draws(20); ++i) {
    const TinyNest nest = random_tiny_nest(random, 12);
    const OutputCost cost = random.pick<OutputCost>({{1, 1}, {0, 1}, {2, 2}});
    for (int capacity = 3; capacity <= 5; ++capacity) {
      const auto best = least_cost(unroll(nest), capacity, cost, 200000);
      if (!best) continue;
      const auto tiled = least_tiled_cost(nest, capacity, cost);
      ASSERT_TRUE(tiled);
      EXPECT_LE(*best, *tiled) << describe(nest) << " in " << capacity;
      ++compared;
    }
  }
  EXPECT_GE(compared, found(30));
}

}  // namespace
}  // namespace tcsim::test
