// Samplings of the unit cube.
#include "core/study/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tcsim {
namespace {

// Joe and Kuo's new-joe-kuo-6 table, in Gray-code order: the points after the origin.
TEST(Sampling, Sobol_begins_as_published) {
  UnitSampler sobol(Sampling::sobol, 3, 8, 0);
  const double expected[7][3] = {{.5, .5, .5},       {.75, .25, .25},    {.25, .75, .75},
                                 {.375, .375, .625}, {.875, .875, .125}, {.625, .125, .875},
                                 {.125, .625, .375}};
  for (std::int64_t i = 0; i < 7; ++i) {
    const auto x = sobol.point(i);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(x[d], expected[i][d]) << i << " " << d;
  }
}

// In base 2, the first 2^m points of a (t, m, s)-net: each of 2^m parts of every axis has one.
TEST(Sampling, Sobol_stratifies_every_axis_and_so_does_a_Latin_hypercube) {
  for (Sampling kind : {Sampling::sobol, Sampling::latin_hypercube}) {
    for (std::uint64_t seed : {0u, 1u, 99u}) {
      UnitSampler sampler(kind, 10, 64, seed);
      std::vector<std::set<int>> parts(10);
      // Without the origin, point 0 to 62 and the next block's first fill all parts.
      const std::int64_t n = kind == Sampling::sobol ? 63 : 64;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto x = sampler.point(i);
        for (std::size_t d = 0; d < 10; ++d) {
          ASSERT_GE(x[d], 0);
          ASSERT_LT(x[d], 1);
          EXPECT_TRUE(parts[d].insert(static_cast<int>(x[d] * 64)).second)
              << to_text(kind) << " seed " << seed << " point " << i << " axis " << d;
        }
      }
    }
  }
}

TEST(Sampling, A_point_does_not_depend_on_what_was_asked_before) {
  for (Sampling kind : {Sampling::sobol, Sampling::latin_hypercube}) {
    UnitSampler in_order(kind, 4, 100, 3), at_random(kind, 4, 100, 3);
    std::vector<std::vector<double>> all;
    for (std::int64_t i = 0; i < 100; ++i) all.push_back(in_order.point(i));
    for (std::int64_t i = 0; i < 100; ++i) {
      const std::int64_t j = i * 37 % 100;
      EXPECT_EQ(at_random.point(j), all[static_cast<std::size_t>(j)]) << j;
    }
  }
}

TEST(Sampling, Seeds_give_other_points) {
  for (Sampling kind : {Sampling::sobol, Sampling::latin_hypercube}) {
    EXPECT_NE(UnitSampler(kind, 3, 10, 1).point(4), UnitSampler(kind, 3, 10, 2).point(4));
  }
}

// With one for all, axes that a Sobol sequence tells apart would still move together.
TEST(Sampling, A_seed_shifts_each_axis_by_bits_of_its_own) {
  UnitSampler plain(Sampling::sobol, 10, 8, 0), shifted(Sampling::sobol, 10, 8, 5);
  const auto from = plain.point(0), to = shifted.point(0);
  std::set<std::uint64_t> shifts;
  for (std::size_t d = 0; d < 10; ++d) {
    const auto bits = [](double x) { return static_cast<std::uint64_t>(std::ldexp(x, 53)); };
    shifts.insert(bits(from[d]) ^ bits(to[d]));
  }
  EXPECT_EQ(shifts.size(), 10u);
}

TEST(Sampling, The_permutation_hits_every_number_once) {
  for (std::int64_t n : {1, 2, 3, 7, 64, 100, 1000}) {
    std::set<std::int64_t> hit;
    for (std::int64_t i = 0; i < n; ++i) hit.insert(permuted(i, n, 42));
    EXPECT_EQ(std::ssize(hit), n);
    EXPECT_EQ(*hit.begin(), 0);
    EXPECT_EQ(*hit.rbegin(), n - 1);
  }
}

}  // namespace
}  // namespace tcsim
