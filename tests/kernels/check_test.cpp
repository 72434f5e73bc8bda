#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/execute.hpp"
#include "tests/groups.hpp"
#include "tests/kernels/build.hpp"

namespace tcsim {
namespace {

// C[mn] = A[mk] B[kn], 6 x 5 x 4, read in place.
Plan small_plan(ElementType type = ElementType::f64) {
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = kernel(6, 5);
  return Plan(
      contraction("mn", "mk", "kn", {{'m', 6}, {'n', 5}, {'k', 4}}, Layout::column_major, type), s);
}

TEST(Check_result, Finds_any_single_wrong_element) {
  const Plan plan = small_plan();
  Arena arena(plan);
  fill_inputs(arena, plan, 11);
  execute(plan, arena);
  ASSERT_TRUE(check_result(arena, plan, Elements(30), 1).ok());
  double* c = arena.as<double>(ArrayId::C);
  for (int i = 0; i < 30; ++i) {
    const double right = c[i];
    c[i] += 1e-12;  // the bound is at most (4 + 2) 2^-53 * 4 = 2.7e-15
    EXPECT_FALSE(check_result(arena, plan, Elements(30), 1).ok()) << "element " << i;
    c[i] = right;
  }
  EXPECT_TRUE(check_result(arena, plan, Elements(30), 1).ok());
}

TEST(Check_result, Error_is_a_fraction_of_the_forward_error_bound) {
  // All inputs 1: every element is 4 and its bound (4 + 2) u 4 = 24 u, u = 2^-53 for f64 and 2^-24
  // for f32. Numbers next to 4 are 4 u 2 = 8 u apart, so three steps up are just on the bound.
  const auto worst = []<class T>(T, const Plan& plan, int steps) {
    Arena arena(plan);
    std::fill_n(arena.as<T>(ArrayId::A), 24, T{1});
    std::fill_n(arena.as<T>(ArrayId::B), 20, T{1});
    std::fill_n(arena.as<T>(ArrayId::C), 30, T{4});
    arena.as<T>(ArrayId::C)[17] = 4 + static_cast<T>(steps) * 4 * std::numeric_limits<T>::epsilon();
    return check_result(arena, plan, Elements(30), 1).worst_error;
  };
  for (int steps = 0; steps < 5; ++steps) {
    EXPECT_DOUBLE_EQ(worst(1.0, small_plan(), steps), steps / 3.0);
    EXPECT_DOUBLE_EQ(worst(1.0F, small_plan(ElementType::f32), steps), steps / 3.0);
  }
}

TEST(Check_result, Not_a_number_is_wrong_and_so_is_anything_but_zero_from_zeros) {
  const Plan plan = small_plan();
  Arena arena(plan);  // zeros, so that the bound is zero too
  EXPECT_EQ(check_result(arena, plan, Elements(30), 1).worst_error, 0);
  double* c = arena.as<double>(ArrayId::C);
  c[3] = std::numeric_limits<double>::denorm_min();
  EXPECT_FALSE(check_result(arena, plan, Elements(30), 1).ok());
  c[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check_result(arena, plan, Elements(30), 1).ok());
}

TEST(Check_result, Samples_every_part_of_C) {
  // 10 samples of 30 elements: one of each three neighbours, so three wrong neighbours are found.
  const Plan plan = small_plan();
  Arena arena(plan);
  for (int part = 0; part < 10; ++part) {
    double* c = arena.as<double>(ArrayId::C);
    std::fill_n(c, 30, 0.0);
    std::fill_n(c + 3 * part, 3, 1.0);
    const Check check = check_result(arena, plan, Elements(10), 5);
    EXPECT_EQ(check.checked, Elements(10));
    EXPECT_FALSE(check.ok()) << "part " << part;
  }
}

TEST(Check_result, Seed_chooses_the_samples) {
  const Plan plan = small_plan();
  Arena arena(plan);
  arena.as<double>(ArrayId::C)[8] = 1;
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    found += !check_result(arena, plan, Elements(3), seed).ok();
  }
  // One sample in each ten elements: found once in ten, 30 of 300 with a deviation of 5.2.
  EXPECT_GT(found, 30 - 5 * 6);
  EXPECT_LT(found, 30 + 5 * 6);
}

TEST(Fill_inputs, Depends_on_seed_tensor_and_offset_only) {
  const Plan plan = small_plan();
  Arena first(plan), second(plan);
  fill_inputs(first, plan, 1);
  fill_inputs(second, plan, 1);
  const double* a = first.as<double>(ArrayId::A);
  const double* b = first.as<double>(ArrayId::B);
  EXPECT_TRUE(std::equal(a, a + 24, second.as<double>(ArrayId::A)));
  EXPECT_TRUE(std::equal(b, b + 20, second.as<double>(ArrayId::B)));
  for (int i = 0; i < 20; ++i) EXPECT_NE(a[i], b[i]);
  fill_inputs(second, plan, 2);
  for (int i = 0; i < 24; ++i) EXPECT_NE(a[i], second.as<double>(ArrayId::A)[i]);
}

TEST(Fill_inputs, Numbers_spread_over_minus_one_to_one) {
  Schedule s;
  s.groups = test::groups("mk", {"m", "", "k", ""});
  s.root = loop(DimClass::m, 1, kernel(1, 1));
  const Plan plan(
      contraction("m", "mk", "k", {{'m', 10'000}, {'k', 1}}, Layout::row_major, ElementType::f32),
      s);
  Arena arena(plan);
  fill_inputs(arena, plan, 3);
  double sum = 0, squares = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = static_cast<double>(arena.as<float>(ArrayId::A)[i]);
    ASSERT_LE(std::abs(x), 1);
    sum += x;
    squares += x * x;
  }
  // Uniform: mean 0 with a deviation of 0.0058, mean square 1/3 with one of 0.003.
  EXPECT_NEAR(sum / 10'000, 0, 0.03);
  EXPECT_NEAR(squares / 10'000, 1.0 / 3, 0.015);
}

}  // namespace
}  // namespace tcsim
