#include "core/bounds/linear_program.hpp"

#include <gtest/gtest.h>

#include "tests/core/random_schedule.hpp"

namespace tcsim::bounds {
namespace {

// The exponents of a matrix product: each dimension is in two of three accesses.
TEST(BoundLinearProgram, Finds_the_exponents_of_a_matrix_product) {
  const LinearProgram p{{1, 1, 1}, {{{1, 1, 0}, 1}, {{1, 0, 1}, 1}, {{0, 1, 1}, 1}}};
  const Rational half(1, 2);
  EXPECT_EQ(solve(p), (std::vector<Rational>{half, half, half}));
}

TEST(BoundLinearProgram, Knows_what_has_no_solution) {
  EXPECT_FALSE(solve({{1}, {{{1}, 2}, {{-1}, -1}}}));  // x >= 2 and x <= 1
  EXPECT_EQ(solve({{1}, {}}), std::vector<Rational>{0});
  EXPECT_EQ(solve({{0}, {{{-1}, -3}, {{1}, 2}}}), std::vector<Rational>{2});
  // The same equation twice.
  EXPECT_EQ(solve({{1, 2}, {{{1, 1}, 1}, {{-1, -1}, -1}, {{1, 1}, 1}, {{-1, -1}, -1}}}),
            (std::vector<Rational>{1, 0}));
}

// The least cost among all points where two of the bounds of the plane cross: the slow way.
std::optional<Rational> least_of_corners(const LinearProgram& p) {
  std::vector<LinearProgram::Row> lines = p.rows;
  lines.push_back({{1, 0}, 0});
  lines.push_back({{0, 1}, 0});
  std::optional<Rational> least;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const auto& [a, b] = lines[i];
      const auto& [c, d] = lines[k];
      const Rational det = a[0] * c[1] - a[1] * c[0];
      if (det == 0) continue;
      const Rational x = (b * c[1] - a[1] * d) / det, y = (a[0] * d - b * c[0]) / det;
      bool inside = true;
      for (const auto& row : lines) inside = inside && row.a[0] * x + row.a[1] * y >= row.b;
      if (!inside) continue;
      const Rational cost = p.costs[0] * x + p.costs[1] * y;
      if (!least || cost < *least) least = cost;
    }
  }
  return least;
}

TEST(BoundLinearProgram, Finds_what_all_corners_of_the_plane_have) {
  test::Random random(2);
  int solved = 0;
  for (int round = 0; round < 2000; ++round) {
    LinearProgram p{{random.between(0, 5), random.between(0, 5)}, {}};
    for (std::int64_t n = random.between(0, 5); n > 0; --n) {
      p.rows.push_back({{random.between(-4, 4), random.between(-4, 4)}, random.between(-6, 6)});
    }
    const std::optional<Rational> corners = least_of_corners(p);
    const std::optional<std::vector<Rational>> x = solve(p);
    ASSERT_EQ(x.has_value(), corners.has_value()) << round;
    if (!x) continue;
    ++solved;
    ASSERT_EQ(p.costs[0] * (*x)[0] + p.costs[1] * (*x)[1], *corners) << round;
    for (const auto& row : p.rows) ASSERT_GE(row.a[0] * (*x)[0] + row.a[1] * (*x)[1], row.b);
  }
  EXPECT_GT(solved, 500);
}

}  // namespace
}  // namespace tcsim::bounds
