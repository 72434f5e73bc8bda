#include "core/bounds/problem.hpp"

#include <gtest/gtest.h>

namespace tcsim::bounds {
namespace {

TEST(BoundProblem, Is_a_programs_accesses) {
  const Program conv =
      parse_statement("O[f,x] += I[c,2*x+w] * W[f,c,w]", {{"f", 4}, {"x", 5}, {"c", 6}, {"w", 3}},
                      ElementType::f64, "test");
  const Problem p = problem_of(conv);
  ASSERT_EQ(p.statements.size(), 1u);
  EXPECT_EQ(to_text(runs_of(p, p.statements[0])), "N_c N_f N_w N_x");
  std::string reductions;
  for (DimId d : reductions_of(p.statements[0])) reductions += p.dim(d).name;
  EXPECT_EQ(reductions.size(), 2u);
  EXPECT_NE(reductions.find('c'), std::string::npos);
  EXPECT_NE(reductions.find('w'), std::string::npos);
  EXPECT_EQ(sizes_of(p).at("N_x"), 5);
  EXPECT_EQ(p, problem_of(conv, 0));
}

TEST(BoundProblem, A_statement_of_a_chain_has_its_own_dimensions_and_arrays) {
  const Program chain = parse_program(
      "program chain\n"
      "dims i=2 j=3 k=4 l=5\n"
      "f64 input A[i, k]\n"
      "f64 input B[k, j]\n"
      "f64 intermediate T[i, j]\n"
      "f64 input D[j, l]\n"
      "f64 output O[i, l]\n"
      "T[i, j] += A[i, k] * B[k, j]\n"
      "O[i, l] += T[i, j] * D[j, l]\n",
      "test");
  const Problem second = problem_of(chain, 1);
  ASSERT_EQ(second.dims.size(), 3u);
  EXPECT_EQ(second.dims[2].name, "l");
  ASSERT_EQ(second.arrays.size(), 3u);
  EXPECT_EQ(second.arrays[0].name, "T");
  EXPECT_TRUE(second.arrays[0].starts_at_zero);
  EXPECT_FALSE(second.arrays[1].starts_at_zero);
  EXPECT_EQ(to_text(runs_of(second, second.statements[0])), "N_i N_j N_l");
  EXPECT_EQ(problem_of(second, 0), second);
}

TEST(BoundProblem, Dimensions_that_are_always_together_are_indices_alone_of_the_same_arrays) {
  const Affine i{{{DimId{0}, 1}}}, j{{{DimId{1}, 3}}}, k{{{DimId{2}, 1}}}, l{{{DimId{3}, 1}}};
  const Affine k_and_l{{{DimId{2}, 1}, {DimId{3}, 1}}};
  using Groups = std::vector<std::vector<std::size_t>>;
  const std::vector<DimId> dims{DimId{0}, DimId{1}, DimId{2}, DimId{3}};
  EXPECT_EQ(always_together({{i, j}, {j, k, i}, {k, l}}, dims), (Groups{{0, 1}, {2}, {3}}));
  // A sum keeps its dimensions apart, but for one that does not count.
  EXPECT_EQ(always_together({{i, k_and_l}, {i}}, dims), (Groups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(always_together({{i, k_and_l}, {i, k}}, {DimId{0}, DimId{2}}), (Groups{{0, 1}}));
  // Twice in an access: j there and there are not any two places.
  EXPECT_EQ(always_together({{i, i, j}}, {DimId{0}, DimId{1}}), (Groups{{0}, {1}}));
}

}  // namespace
}  // namespace tcsim::bounds
