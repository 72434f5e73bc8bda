#include "core/bounds/closed_form.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "core/bounds/tile_sizes.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim::bounds {
namespace {

using test::Random;

// Extents and a capacity for which sides of sqrt(S) and less are within all dimensions but H, W.
Values random_values(Random& random, const Problem& problem) {
  Values values;
  for (const Problem::Dim& d : problem.dims) {
    values[d.symbol] = Rational(random.between(d.small ? 1 : 2000, d.small ? 11 : 200000), 7);
  }
  values["S"] = Rational(random.between(50, 1000000), random.between(1, 9));
  return values;
}

void expect_same(const Expression& ours, const std::function<long double(const Values&)>& printed,
                 const Problem& problem) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Values at = random_values(random, problem);
    const long double expected = printed(at);
    ASSERT_NEAR(static_cast<double>(ours.value(at) / expected), 1, 1e-12) << to_text(ours);
  }
}

long double value(const Values& at, const std::string& symbol) {
  return to_long_double(at.at(symbol));
}

// ioopt, Fig. 6, with the sizes of Fig. 5. All are 2 x (all extents) / (sqrt(S + 1) - 1) and the
// elements of one array, whose dimensions stand at the end here.
TEST(ClosedForm, The_papers_contractions) {
  struct Line {
    const char *label, *sizes, *stays;
  };
  for (const Line& line : {Line{"abcde-efbad-cf", "a=48,b=32,c=24,d=32,e=48,f=32", "cf"},
                           Line{"abcd-dbea-ec", "a=72,b=72,c=24,d=72,e=72", "ce"},
                           Line{"abc-bda-dc", "a=312,b=312,c=296,d=312", "cd"},
                           Line{"abcdef-dega-gfbc", "a=24,b=16,c=16,d=24,e=16,f=16,g=24", "bcfg"},
                           Line{"abc-adec-ebd", "a=72,b=72,c=72,d=72,e=72", "bde"},
                           Line{"ab-cad-dcb", "a=312,b=296,c=312,d=312", "ab"},
                           Line{"ab-ac-cb", "a=5136,b=5136,c=5120", "bc"},
                           Line{"abcd-aebf-fdec", "a=72,b=72,c=72,d=72,e=72,f=72", "cdef"}}) {
    const Problem problem = problem_of(program_of(parse_contraction(
        line.label, parse_sizes(line.sizes), Layout::row_major, ElementType::f64)));
    const auto form = closed_form(problem, 0, Moves::loads);
    ASSERT_TRUE(form) << line.label;
    expect_same(
        form->moved,
        [&](const Values& at) {
          long double all = 2, stays = 1;
          for (const Problem::Dim& d : problem.dims) all *= value(at, d.symbol);
          for (const char* c = line.stays; *c != 0; ++c)
            stays *= value(at, "N_" + std::string(1, *c));
          return all / (std::sqrt(value(at, "S") + 1) - 1) + stays;
        },
        problem);
  }
}

// ioopt, Fig. 6, B = 1. Its Delta's root reads, beside misprints, H^2 W^2 - 2 H W^2 + W^2 +
// 4 S (H W + W + 1).
TEST(ClosedForm, The_papers_convolution) {
  Problem problem = problem_of(
      parse_statement("Out[f, x, y] += Image[x + w, y + h, c] * Filter[f, w, h, c]",
                      {{"f", 1000}, {"x", 1000}, {"y", 1000}, {"w", 3}, {"h", 3}, {"c", 1000}},
                      ElementType::f64, "test"));
  for (Problem::Dim& d : problem.dims) d.small = d.name == "w" || d.name == "h";
  const auto form = closed_form(problem, 0, Moves::loads);
  ASSERT_TRUE(form);
  // Its loops: x innermost, one at a time; c, f and y have the side.
  EXPECT_EQ(to_text(form->moved_by_side),
            "N_c N_f N_h N_w + N_c N_f N_x N_y / Delta + "
            "N_c N_f N_y (Delta + N_h - 1) (N_w + N_x - 1) / Delta^2");
  EXPECT_EQ(problem.dim(form->nest.dims[place(form->pattern.permutation.back())][0]).name, "x");
  expect_same(
      form->moved,
      [&](const Values& at) {
        const long double C = value(at, "N_c"), F = value(at, "N_f"), H = value(at, "N_h"),
                          W = value(at, "N_w"), X = value(at, "N_x"), Y = value(at, "N_y"),
                          S = value(at, "S");
        const long double delta =
            (-H * W + W +
             std::sqrt(H * H * W * W - 2 * H * W * W + W * W + 4 * S * (H * W + W + 1))) /
            (2 * (H * W + W + 1));
        return C * F * H * W * X * Y *
               (1 / (X * Y) + 1 / (H * delta * W) +
                (H + delta - 1) * (W + X - 1) / (H * delta * delta * W * X));
      },
      problem);
}

Problem matrix_product(std::int64_t i, std::int64_t j, std::int64_t k) {
  return problem_of(parse_statement("C[i, j] += A[i, k] * B[k, j]", {{"i", i}, {"j", j}, {"k", k}},
                                    ElementType::f64, "test"));
}

// ioopt, section 2; its figures with C counted twice are in upper_test.cpp.
TEST(ClosedForm, The_papers_matrix_product) {
  const Problem problem = matrix_product(100, 100, 1000);
  const auto once = closed_form(problem, 0, Moves::loads);
  ASSERT_TRUE(once);
  EXPECT_EQ(to_text(once->moved), "2 N_i N_j N_k / (sqrt(S + 1) - 1) + N_i N_j");
  EXPECT_EQ(to_text(once->side), "sqrt(S + 1) - 1");
  const auto twice = closed_form(problem, 0, Moves::loads_and_stores);
  ASSERT_TRUE(twice);
  EXPECT_EQ(to_text(twice->moved), "2 N_i N_j N_k / (sqrt(S + 1) - 1) + 2 N_i N_j");
}

TEST(ClosedForm, Holds_where_the_side_is_within_its_dimensions) {
  const auto form = closed_form(matrix_product(30, 40, 1000), 0, Moves::loads);
  ASSERT_TRUE(form);
  Values at{{"N_i", 30}, {"N_j", 40}, {"N_k", 1000}, {"S", 31 * 31 - 1}};
  EXPECT_TRUE(form->holds(at));
  at["S"] = 31 * 31;  // a side of more than 30
  EXPECT_FALSE(form->holds(at));
  // Then it falls below the inputs and outputs, which anything moves.
  at["S"] = 1000000;
  EXPECT_LT(form->moved.value(at), 30 * 1000 + 1000 * 40 + 30 * 40);
  at["S"] = 2;
  EXPECT_FALSE(form->holds(at));
}

// ioopt, section 6, Eqs. 1 and 2: T_k is 1 there.
TEST(ClosedForm, The_papers_cost_and_footprint) {
  const std::vector<DimId> order{DimId{0}, DimId{1}, DimId{2}};
  // C slides along nothing of its own, A and B along k.
  const auto e = tiling_expressions(matrix_product(8, 8, 8), 0, Moves::loads, order, {2, 1, 1});
  EXPECT_EQ(to_text(e.moved), "N_i N_j N_k / T_i + N_i N_j N_k / T_j + N_i N_j");
  EXPECT_EQ(to_text(e.held.replaced("T_k", 1)), "T_i T_j + T_i + T_j");
}

// The expressions are those that tile sizes are found with.
TEST(ClosedForm, Expressions_are_the_real_costs) {
  Random random(8);
  for (const char* text : {"C[i, j] += A[i, k] * B[k, j]", "O[i] += I[3*i + 2*j, k] * F[j, k]"}) {
    Problem problem = problem_of(
        parse_statement(text, {{"i", 70}, {"j", 50}, {"k", 60}}, ElementType::f64, "test"));
    problem.arrays[static_cast<std::size_t>(problem.statements[0].out.array)].starts_at_zero =
        random.chance(50);
    const Nest nest = nest_of(problem, 0, Moves::loads_and_stores).nest;
    for (int i = 0; i < 100; ++i) {
      std::vector<DimId> order{DimId{0}, DimId{1}, DimId{2}};
      random.shuffle(order);
      std::vector<int> levels;
      for (int a = 0; a < 3; ++a) levels.push_back(static_cast<int>(random.between(1, 4)));
      Values at = sizes_of(problem);
      std::vector<double> tiles;
      for (std::size_t d = 0; d < 3; ++d) {
        tiles.push_back(static_cast<double>(random.between(1, 40)));
        at["T_" + problem.dims[d].name] = static_cast<std::int64_t>(tiles.back());
      }
      const auto e = tiling_expressions(problem, 0, Moves::loads_and_stores, order, levels);
      const RealTiling real = real_cost(nest, order, levels, tiles);
      EXPECT_NEAR(static_cast<double>(e.moved.value(at)) / real.moved, 1, 1e-9);
      EXPECT_NEAR(static_cast<double>(e.held.value(at)) / real.held, 1, 1e-9);
    }
  }
}

}  // namespace
}  // namespace tcsim::bounds
