// Random geometric programs, beside NLopt's SLSQP and points drawn at random.
#include "core/optimize/posynomial_program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/optimize/slsqp.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// 1/x + 4/y where x * y <= 16: 2 * sqrt(4/16) = 1, at x = 2, y = 8.
TEST(PosynomialPrograms, HaveTheOptimumThatAlgebraHas) {
  PosynomialProgram p;
  p.objective.add(1, {{0, -1.0}});
  p.objective.add(4, {{1, -1.0}});
  p.at_most_one.emplace_back().add(1.0 / 16, {{0, 1.0}, {1, 1.0}});
  p.upper = {std::log(100), std::log(100)};
  const auto found = solve(p);
  ASSERT_TRUE(found);
  EXPECT_NEAR(std::exp(found->log_value), 1, 2 * posynomial_slack);
  EXPECT_NEAR(std::exp(found->log_bound), 1, 2 * posynomial_slack);
  EXPECT_NEAR(std::exp(found->y[0]), 2, 0.01);
  EXPECT_NEAR(std::exp(found->y[1]), 8, 0.04);
}

TEST(PosynomialPrograms, WithoutVariablesHaveAValue) {
  PosynomialProgram p;
  p.objective.add(3, {});
  const auto found = solve(p);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(std::exp(found->log_value), 3);
  EXPECT_DOUBLE_EQ(std::exp(found->log_bound), 3);
}

TEST(PosynomialPrograms, WhoseTilesOfOneAreTooLargeHaveNone) {
  PosynomialProgram p;
  p.objective.add(1, {{0, -1.0}});
  p.at_most_one.emplace_back().add(1, {{0, 1.0}});
  p.upper = {2};
  EXPECT_TRUE(solve(p));  // just fit
  p.at_most_one.front().add(0.01, {});
  EXPECT_FALSE(solve(p));
}

class ForSlsqp {
 public:
  explicit ForSlsqp(const PosynomialProgram& p) : p_(p) {}
  double objective(const double* y, double* gradient) const {
    return p_.objective.log_value(at(y), gradient);
  }
  void constrain(const double* y, double* values, double* gradients) const {
    const std::size_t n = p_.upper.size();
    const auto row = [&](std::size_t r) { return gradients ? gradients + r * n : nullptr; };
    std::size_t r = 0;
    for (const Posynomial& sum : p_.at_most_one) {
      values[r] = sum.log_value(at(y), row(r));
      ++r;
    }
    for (const auto& [inner, outer] : p_.nested) {
      values[r] = y[inner] - y[outer];
      if (double* g = row(r)) {
        g[inner] = 1;
        g[outer] = -1;
      }
      ++r;
    }
  }
  double over(const std::vector<double>& y) const {
    std::vector<double> values(p_.at_most_one.size() + p_.nested.size());
    constrain(y.data(), values.data(), nullptr);
    return *std::ranges::max_element(values);
  }

 private:
  Eigen::Map<const Eigen::VectorXd> at(const double* y) const {
    return {y, static_cast<Eigen::Index>(p_.upper.size())};
  }
  const PosynomialProgram& p_;
};

// Traffic that falls with tiles, and tiles that are held together, some within others.
PosynomialProgram drawn(std::mt19937_64& random) {
  const auto pick = [&](int from, int to) {
    return std::uniform_int_distribution(from, to)(random);
  };
  const auto number = [&](double from, double to) {
    return std::uniform_real_distribution(from, to)(random);
  };
  PosynomialProgram p;
  const int outer = pick(1, 5), inner = pick(0, outer);
  for (int k = 0; k < outer; ++k) p.upper.push_back(number(0.7, 8));
  for (int k = 0; k < inner; ++k) {
    p.upper.push_back(p.upper[static_cast<std::size_t>(k)]);
    p.nested.emplace_back(outer + k, k);
  }
  const auto term = [&](Posynomial& to, double coefficient, double exponent) {
    std::vector<std::pair<int, double>> exponents;
    for (int k = 0; k < outer + inner; ++k) {
      if (pick(0, 2) == 0) exponents.emplace_back(k, exponent);
    }
    to.add(coefficient, exponents);
  };
  for (int i = pick(1, 6); i > 0; --i) term(p.objective, std::exp(number(-8, 8)), -1);
  for (int s = pick(1, 3); s > 0; --s) {
    Posynomial& sum = p.at_most_one.emplace_back();
    for (int i = pick(1, 4); i > 0; --i) term(sum, std::exp(number(-12, -2)), 1);
  }
  return p;
}

TEST(PosynomialPrograms, AreSolvedAsSlsqpDoesAndNothingIsBelowTheirBound) {
  std::mt19937_64 random(test::new_seed());
  int not_close = 0;
  for (int trial = 0; trial < test::draws(300); ++trial) {
    const PosynomialProgram p = drawn(random);
    const ForSlsqp other(p);
    const auto found = solve(p);
    const std::size_t n = p.upper.size();
    ASSERT_EQ(found.has_value(), other.over(std::vector<double>(n, 0.0)) <= 1e-9);
    if (!found) continue;
    EXPECT_LE(other.over(found->y), posynomial_slack);
    EXPECT_DOUBLE_EQ(other.objective(found->y.data(), nullptr), found->log_value);
    not_close += found->log_value - found->log_bound > 1e-3 ? 1 : 0;
    std::vector<double> y(n, 0.0);
    const int rows = static_cast<int>(p.at_most_one.size() + p.nested.size());
    slsqp(other, {std::vector<double>(n, 0.0), p.upper, rows, 1e-8, 500}, y);
    if (other.over(y) <= 1e-6) {
      EXPECT_GE(other.objective(y.data(), nullptr), found->log_bound);
    }
    for (int k = 0; k < 50; ++k) {
      for (std::size_t v = 0; v < n; ++v) {
        y[v] = std::uniform_real_distribution(0.0, p.upper[v])(random);
      }
      for (const auto& [inner, outer] : p.nested) {
        y[static_cast<std::size_t>(inner)] =
            std::min(y[static_cast<std::size_t>(inner)], y[static_cast<std::size_t>(outer)]);
      }
      while (other.over(y) > 0) {
        for (double& one : y) one *= 0.9;
      }
      EXPECT_GE(other.objective(y.data(), nullptr), found->log_bound);
    }
  }
  std::cout << not_close << " are not solved to 0.1 %\n";
  EXPECT_LE(not_close, 3);
}

}  // namespace
}  // namespace tcsim
