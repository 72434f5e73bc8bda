#include "core/bounds/permutations.hpp"

#include <gtest/gtest.h>

#include "core/workload/program.hpp"

namespace tcsim::bounds {
namespace {

using Order = std::vector<DimId>;

Nest nest_of_text(const std::string& text) {
  return nest_of(problem_of(parse_program(text, "test")), 0, Moves::loads).nest;
}

Order order(std::initializer_list<int> dims) {
  Order result;
  for (int d : dims) result.push_back(DimId{d});
  return result;
}

// ioopt, Listing 2 and Fig. 2: dimensions f, x, w, c are 0 to 3.
TEST(Permutations, The_convolution_in_one_dimension_leaves_three) {
  const Nest nest = nest_of_text(
      "program conv dims f=64 x=200 w=3 c=32\n"
      "f64 output O[f, x]\nf64 input I[202, c]\nf64 input F[f, w, c]\n"
      "O[f, x] += I[x + w, c] * F[f, w, c]\n");
  const Reuse reuse = reuse_of(nest, small_dims(nest));
  // Out is array 0, Image 1, Filter 2.
  EXPECT_EQ(reuse, (Reuse{0b010, 0b100, 0b011, 0b001}));
  // Innermost x; or w, and outside it f or c.
  EXPECT_EQ(permutations(reuse),
            (std::vector<Order>{order({0, 1, 3, 2}), order({0, 2, 3, 1}), order({1, 3, 0, 2})}));
}

TEST(Permutations, A_matrix_product_has_one_for_each_array_that_stays) {
  const Nest nest = nest_of_text(
      "program product dims i=100 j=100 k=100\n"
      "f64 output C[i, j]\nf64 input A[i, k]\nf64 input B[k, j]\n"
      "C[i, j] += A[i, k] * B[k, j]\n");
  EXPECT_EQ(permutations(reuse_of(nest, small_dims(nest))),
            (std::vector<Order>{order({0, 1, 2}), order({0, 2, 1}), order({1, 2, 0})}));
}

TEST(Permutations, Without_reuse_there_is_one) {
  EXPECT_EQ(permutations(Reuse{0, 0, 0}), (std::vector<Order>{order({0, 1, 2})}));
  EXPECT_EQ(permutations(Reuse{}), (std::vector<Order>{Order{}}));
}

TEST(Permutations, There_is_an_end_to_them) {
  EXPECT_EQ(permutations(Reuse(4, 1)).size(), 24u);
  EXPECT_EQ(permutations(Reuse(64, 1)).size(), 120u);
}

TEST(Permutations, A_long_filter_is_not_small) {
  const Nest nest = nest_of_text(
      "program conv dims x=20 w=3\nf64 output O[x]\nf64 input I[22]\nf64 input F[w]\n"
      "O[x] += I[x + w] * F[w]\n");
  EXPECT_EQ(small_dims(nest), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace tcsim::bounds
