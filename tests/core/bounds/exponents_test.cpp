#include "core/bounds/exponents.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/bounds/subspace.hpp"
#include "tests/core/bounds/random_problem.hpp"
#include "tests/draws.hpp"

namespace tcsim::bounds {
namespace {

using test::Random;

Matrix rows(std::initializer_list<std::vector<Rational>> list) { return list; }

TEST(BoundSubspace, Adds_and_intersects) {
  const Subspace x(3, rows({{1, 0, 0}})), xy(3, rows({{1, 1, 0}, {1, -1, 0}})),
      yz(3, rows({{0, 2, 0}, {0, 0, 5}}));
  EXPECT_EQ(sum(x, yz), Subspace::whole(3));
  EXPECT_EQ(intersection(xy, yz), Subspace(3, rows({{0, 1, 0}})));
  EXPECT_EQ(intersection(x, yz).dimension(), 0u);
  EXPECT_EQ(Subspace::kernel(3, rows({{1, 1, 0}})), Subspace(3, rows({{1, -1, 0}, {0, 0, 1}})));
  EXPECT_EQ(xy.rank_of_image(rows({{1, 0, 0}, {2, 0, 0}})), 1u);
}

TEST(BoundSubspace, Knows_lattices_that_do_not_end) {
  // Three lines of a plane, 0 and the plane.
  const std::vector<Subspace> lines{{2, rows({{1, 0}})}, {2, rows({{0, 1}})}, {2, rows({{1, 1}})}};
  EXPECT_EQ(lattice(lines, 100)->size(), 5u);
  // Four points of a projective plane, no three in line, reach all rational ones.
  const std::vector<Subspace> points{{3, rows({{1, 0, 0}})},
                                     {3, rows({{0, 1, 0}})},
                                     {3, rows({{0, 0, 1}})},
                                     {3, rows({{1, 1, 1}})}};
  EXPECT_FALSE(lattice(points, 100));
}

TEST(BoundSubspace, Dimensions_of_sum_and_intersection_are_those_of_the_parts) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    const auto some = [&] {
      Matrix m;
      for (std::int64_t n = random.between(0, 3); n > 0; --n) {
        m.push_back({});
        for (int k = 0; k < 4; ++k) m.back().push_back(random.between(-2, 2));
      }
      return Subspace(4, m);
    };
    const Subspace a = some(), b = some(), both = intersection(a, b), all = sum(a, b);
    ASSERT_EQ(both.dimension() + all.dimension(), a.dimension() + b.dimension());
    ASSERT_EQ(sum(a, both), a);
    ASSERT_EQ(intersection(a, all), a);
  }
}

std::vector<Rational> rationals(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// IOOpt, Fig. 3: without small dimensions the exponents of a convolution sum to 2, with H and W
// small to 3/2, and those of H and W are 1/2.
TEST(BoundExponents, Are_those_of_the_papers_convolution) {
  const Problem p = test::problem("O[b,f,x,y] += I[b,c,x+h,y+w] * W[f,c,h,w]");
  const ExponentSet set(p.statements[0]);
  const std::vector<Rational> ones(3, Rational(1)), many(7, Rational(1000)), none(7, Rational(0));
  std::vector<bool> small(7, false);
  const std::optional<Exponents> large = set.least(ones, none, small);
  ASSERT_TRUE(large);
  EXPECT_EQ(large->access[0] + large->access[1] + large->access[2], 2);
  for (std::size_t d = 0; d < 7; ++d) small[d] = p.dims[d].name == "h" || p.dims[d].name == "w";
  const std::optional<Exponents> both = set.least(ones, many, small, Rational(3, 2));
  ASSERT_TRUE(both);
  for (std::size_t d = 0; d < 7; ++d) {
    EXPECT_EQ(both->dim[d], small[d] ? Rational(1, 2) : Rational(0)) << p.dims[d].name;
  }
  EXPECT_FALSE(set.least(ones, many, small, Rational(4, 3)));
}

TEST(BoundExponents, Know_which_are_none) {
  const ExponentSet set(test::problem("C[i,j] += A[i,k] * B[k,j]").statements[0]);
  const Rational half(1, 2);
  EXPECT_TRUE(set.contains({{half, half, half}, rationals({0, 0, 0})}));
  EXPECT_FALSE(set.contains({{half, half, Rational(49, 100)}, rationals({0, 0, 0})}));
  EXPECT_TRUE(set.contains({rationals({0, 0, 1}), rationals({1, 0, 0})}));
  EXPECT_FALSE(set.contains({rationals({2, 0, 0}), rationals({0, 0, 1})}));
}

// The inequality itself, on sets of runs: any, boxes, and what a map keeps close together.
TEST(BoundExponents, Bound_every_set_of_runs) {
  Random random(4);
  int tight = 0;
  for (int round = 0; round < tcsim::test::draws(700); ++round) {
    const Problem p = test::random_problem(random);
    const Problem::Statement& s = p.statements[0];
    const std::vector<Problem::Access> accesses = accesses_of(s);
    const std::vector<DimId> dims = dims_of(s);
    std::vector<Rational> access_costs, dim_costs;
    std::vector<bool> small;
    for (std::size_t j = 0; j < accesses.size(); ++j) access_costs.push_back(random.between(1, 9));
    for (std::size_t d = 0; d < dims.size(); ++d) {
      dim_costs.push_back(random.between(0, 9));
      small.push_back(random.chance(30));
    }
    const ExponentSet set(s);
    const std::optional<Exponents> e = set.least(access_costs, dim_costs, small);
    if (!e) continue;
    ASSERT_TRUE(set.contains(*e));
    std::set<std::vector<std::int64_t>> runs;
    std::vector<std::int64_t> reach;
    for (std::size_t d = 0; d < dims.size(); ++d) reach.push_back(random.between(1, 3));
    const int kind = static_cast<int>(random.between(0, 2));
    for (int n = 0; n < 60; ++n) {
      std::vector<std::int64_t> run;
      for (std::size_t d = 0; d < dims.size(); ++d) run.push_back(random.between(1, reach[d]));
      if (kind == 1) {  // along a line
        const std::int64_t t = random.between(0, 3);
        for (std::size_t d = 0; d < dims.size(); ++d) run[d] = t * (reach[d] - 2);
      }
      runs.insert(run);
    }
    long double most = 1;
    const auto power_of = [&](std::size_t elements, const Rational& s_j) {
      most *= std::pow(static_cast<long double>(elements), to_long_double(s_j));
    };
    for (std::size_t j = 0; j < accesses.size(); ++j) {
      std::set<std::vector<std::int64_t>> elements;
      for (const auto& run : runs) elements.insert(test::element(accesses[j], dims, run));
      power_of(elements.size(), e->access[j]);
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      std::set<std::int64_t> places;
      for (const auto& run : runs) places.insert(run[d]);
      power_of(places.size(), e->dim[d]);
    }
    const auto count = static_cast<long double>(runs.size());
    ASSERT_LE(count, most * (1 + 1e-12L)) << p.name;
    if (count > 1 && count > 0.999L * most) ++tight;
  }
  EXPECT_GE(tight, tcsim::test::found(20));
}

}  // namespace
}  // namespace tcsim::bounds
