#include "core/bounds/upper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/bounds/footprint.hpp"
#include "core/error.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/suite.hpp"
#include "tests/core/bounds/random_nest.hpp"
#include "tests/draws.hpp"

namespace tcsim::bounds {
namespace {

using test::OutputCost;
using test::Random;
using test::TinyNest;

// ioopt, section 2: Ni = 2000, Nj = Nk = 1500, S = 1024. "IO is minimized for Ti = Tj = 31", and
// UB = 296322580 is 2 Ni Nj Nk / 31 + 2 Ni Nj: tiles of 31 with Ni / 31 and Nj / 31 of them, and
// C counted twice. With C once, as in the paper's expression above it, it is 293322580.
TEST(UpperBound, The_papers_matrix_product) {
  const Nest twice = to_nest(test::matrix_product(2000, 1500, 1500), {2, 2});
  const auto bound = upper_bound(twice, 1024);
  ASSERT_TRUE(bound);
  const auto& order = bound->real.permutation;
  EXPECT_EQ(order.back(), DimId{2});
  EXPECT_NEAR(bound->real.tiles[0], std::sqrt(1025.0) - 1, 1e-4);
  EXPECT_NEAR(bound->real.tiles[1], std::sqrt(1025.0) - 1, 1e-4);
  EXPECT_NEAR(bound->real.tiles[2], 1, 1e-4);
  EXPECT_NEAR(bound->real.held, 1024, 1e-3);
  const RealTiling printed = real_cost(twice, order, bound->real.levels, {31, 31, 1});
  EXPECT_EQ(std::floor(printed.moved), 296322580);
  const Nest once = to_nest(test::matrix_product(2000, 1500, 1500), {1, 1});
  EXPECT_EQ(std::floor(real_cost(once, order, bound->real.levels, {31, 31, 1}).moved), 293322580);
  // What 65 x 49 tiles of at most 31 x 31 really move is more; other tiles that fit move less.
  EXPECT_EQ(cost_of(twice, {order, {31, 31, 1}}, 1024)->moved,
            2000.0 * 1500 * (49 + 2) + 1500.0 * 1500 * 65);
  EXPECT_LT(bound->cost.moved, 2000.0 * 1500 * (49 + 2) + 1500.0 * 1500 * 65);
  EXPECT_LE(bound->cost.held, 1024);
}

TEST(UpperBound, A_store_for_everything_brings_each_element_once) {
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const Nest nest = to_nest(test::random_tiny_nest(random, 500), {1, 1});
    double all = 0;
    for (const Nest::Array& array : nest.arrays) all += footprint(array, nest.extents);
    const auto bound = upper_bound(nest, all);
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->cost.moved, all);
  }
}

TEST(UpperBound, Stores_behind_one_another_tile_each_other) {
  const Nest nest = to_nest(test::matrix_product(200, 300, 250), {1, 1});
  const std::vector<double> capacities{24, 440, 10000};
  const auto bounds = upper_bounds(nest, capacities);
  ASSERT_TRUE(bounds);
  ASSERT_EQ(bounds->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const UpperBound& b = (*bounds)[i];
    EXPECT_LE(b.cost.held, capacities[i]);
    // Alone, a store of that size does no worse, and not much better.
    const auto alone = upper_bound(nest, capacities[i]);
    EXPECT_GE(b.cost.moved, alone->cost.moved * (1 - 1e-9));
    EXPECT_LE(b.cost.moved, alone->cost.moved * 1.3);
    for (std::size_t d = 0; i > 0 && d < 3; ++d) {
      EXPECT_LE((*bounds)[i - 1].tiling.tiles[d], b.tiling.tiles[d]);
    }
  }
  // Of one store it is the same.
  EXPECT_EQ(upper_bounds(nest, std::vector<double>{440})->front().cost.moved,
            upper_bound(nest, 440)->cost.moved);
  EXPECT_FALSE(upper_bounds(nest, std::vector<double>{2, 440}));
}

TEST(UpperBound, Is_said_in_names) {
  const Contraction c = parse_contraction("abc-adec-ebd", parse_sizes("a=20,b=90,c=30,d=8,e=9"),
                                          Layout::row_major, ElementType::f64);
  UpperBound bound;
  bound.nest = fused(nest_of(c, Moves::loads));
  bound.tiling = {{DimId{1}, DimId{2}, DimId{0}}, {7, 23, 18}};
  const std::vector<std::string> names{"a", "b", "c", "d", "e"};
  EXPECT_EQ(permutation_text(bound, names), "b d*e a*c");
  EXPECT_EQ(tiles_text(bound, names), "b=23 d*e=18 a*c=7");
}

TEST(UpperBound, Statements_of_a_chain_add_up) {
  const Problem chain =
      problem_of(parse_program("program chain dims i=30 j=20 k=40 l=25\n"
                               "f64 input A[i, k]\nf64 input B[k, j]\nf64 input D[j, l]\n"
                               "f64 intermediate T[i, j]\nf64 output E[i, l]\n"
                               "T[i, j] += A[i, k] * B[k, j]\nE[i, l] += T[i, j] * D[j, l]\n",
                               "test"));
  // With all in the store: T is made in it, and stored and loaded between the statements.
  const auto all = upper_bound(chain, Moves::loads, 1e6);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->statements[0].cost.moved, 30 * 40 + 40 * 20);
  EXPECT_EQ(all->moved, 30 * 40 + 40 * 20 + 30 * 20 + 20 * 25 + 30 * 25);
  EXPECT_EQ(upper_bound(chain, Moves::loads_and_stores, 1e6)->moved,
            all->moved + 30 * 20 + 30 * 25);
  EXPECT_FALSE(upper_bound(chain, Moves::loads, 2));
}

TEST(UpperBound, Needs_all_extents) {
  Problem problem = problem_of(
      parse_program("program sum dims i=3\nf64 input A[i]\nf64 output C[]\nC[] += A[i]\n", "test"));
  problem.dims[0].extent.reset();
  EXPECT_THROW(upper_bound(problem, Moves::loads, 10), UsageError);
}

TEST(UpperBound, Three_elements_do) {
  const Nest nest = to_nest(test::matrix_product(4, 5, 6), {1, 1});
  EXPECT_FALSE(upper_bound(nest, 2));
  const auto bound = upper_bound(nest, 3);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->cost.moved, 120 * 2 + 20);
}

// What tccg and the layers of yolo9000 move never grows with the store, and no layer of filters
// 1 x 1 keeps more than three dimensions.
TEST(UpperBound, A_larger_store_moves_no_more) {
  for (const char* suite : {"tccg", "yolo9000"}) {
    const std::vector<Contraction> all = find_suite(suite).workloads;
    for (std::size_t i = 0; i < all.size(); i += test::one_of) {
      const Contraction& c = all[i];
      const Nest nest = nest_of(c, Moves::loads);
      double before = 3 * iterations(nest);
      for (double capacity = 1 << 11; capacity <= 1 << 19; capacity *= 4) {
        const auto bound = upper_bound(nest, capacity);
        ASSERT_TRUE(bound);
        EXPECT_LE(bound->cost.moved, before) << c.name();
        EXPECT_LE(bound->cost.held, capacity);
        EXPECT_LE(bound->real.held, capacity * (1 + 1e-6));
        if (c.is_plain()) {
          EXPECT_EQ(bound->nest.dims.size(), 3u) << c.name();
        }
        before = bound->cost.moved;
      }
    }
  }
}

// Every schedule in the search is one that upper_bound() could have found, and it finds one that is
// almost as good.
TEST(UpperBound, Is_close_to_the_best_tiled_nest_of_tiny_ones) {
  Random random(6);
  double excess = 0;
  int compared = 0;
  for (int i = 0; i < test::draws(300); ++i) {
    const TinyNest tiny = test::random_tiny_nest(random, 60);
    const OutputCost output = random.pick<OutputCost>({{1, 1}, {0, 1}, {2, 2}, {1, 2}});
    const Nest nest = to_nest(tiny, output);
    const Nest loops = fused(nest).nest;
    const double capacity = static_cast<double>(random.between(3, 24));
    const auto bound = upper_bound(nest, capacity);
    ASSERT_TRUE(bound) << describe(tiny);
    // All orders and all tiles by the same count.
    std::optional<double> least;
    std::vector<DimId> order;
    for (std::size_t d = 0; d < loops.extents.size(); ++d)
      order.push_back(DimId{static_cast<int>(d)});
    do {
      Tiling tiling{order, std::vector<std::int64_t>(loops.extents.size(), 1)};
      while (true) {
        const auto cost = cost_of(loops, tiling, capacity);
        if (cost && (!least || cost->moved < *least)) least = cost->moved;
        std::size_t d = 0;
        while (d < order.size() && ++tiling.tiles[d] > loops.extents[d]) tiling.tiles[d++] = 1;
        if (d == order.size()) break;
      }
    } while (std::next_permutation(order.begin(), order.end()));
    ASSERT_LE(*least, bound->cost.moved);
    if (*least > 0) excess += bound->cost.moved / *least - 1, ++compared;
  }
  EXPECT_LT(excess / compared, 0.01);
}

// i, j and l are one index of A and C, with 2^63 places.
TEST(UpperBound, What_cannot_be_counted_is_refused) {
  const std::int64_t n = std::int64_t{1} << 21;
  Nest nest{{n, n, n, 4}, {}};
  const auto axis = [](int d) { return Affine{{{DimId{d}, 1}}}; };
  nest.arrays = {{"C", {axis(0), axis(1), axis(2)}, 1, false},
                 {"A", {axis(0), axis(1), axis(2), axis(3)}, 1, false},
                 {"B", {axis(3)}, 1, false}};
  EXPECT_EQ(fused(nest).nest.extents[0], most_extent);
  EXPECT_THROW(upper_bound(nest, 1000), UsageError);
  nest.extents[2] = n / 4;  // 2^61
  EXPECT_TRUE(upper_bound(nest, 1000));
}

}  // namespace
}  // namespace tcsim::bounds
