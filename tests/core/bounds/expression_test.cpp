#include "core/bounds/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "core/error.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim::bounds {
namespace {

Expression sym(const char* name) { return Expression::symbol(name); }

const Expression Ni = sym("N_i"), Nj = sym("N_j"), Nk = sym("N_k"), Cap = sym("S");

// IOOpt, section 2.
const Expression product_bound = Ni * Nj * (2 * Nk / (sqrt(Cap + 1) - 1) + 1);

TEST(BoundExpression, Has_a_normal_form) {
  EXPECT_EQ((Ni + Nj) * (Ni - Nj), Ni * Ni - Nj * Nj);
  EXPECT_EQ(Nj + Ni, Ni + Nj);
  EXPECT_TRUE((Ni - Ni).is_zero());
  EXPECT_EQ(sqrt(Cap) * sqrt(Cap), Cap);
  EXPECT_EQ(power(4 * Cap * Cap, Rational(1, 2)), 2 * Cap);
  EXPECT_EQ(sqrt(Expression(12)), 2 * sqrt(Expression(3)));
  EXPECT_EQ(sqrt(Expression(Rational(1, 2))), sqrt(Expression(2)) / 2);
  EXPECT_EQ(sqrt(4 * Cap + 4), 2 * sqrt(Cap + 1));
  EXPECT_EQ((Cap + 1) / (Cap + 1), Expression(1));
  EXPECT_EQ(largest({Ni, largest({Nj, Ni})}), largest({Ni, Nj}));
  EXPECT_EQ(largest({Ni, Ni}), Ni);
  EXPECT_EQ(power(power(Cap, Rational(1, 3)), 3), Cap);
}

TEST(BoundExpression, Is_written_in_an_order_of_its_own) {
  EXPECT_EQ(to_text(Expression()), "0");
  EXPECT_EQ(to_text(Expression(Rational(-3, 2))), "-3 / 2");
  EXPECT_EQ(to_text(1 + Cap - 2 * Cap * Cap), "-2 S^2 + S + 1");
  EXPECT_EQ(to_text(Nj * Ni / 3 * Nk), "N_i N_j N_k / 3");
  EXPECT_EQ(to_text(2 * Ni * Nj * Nk / sqrt(Cap)), "2 N_i N_j N_k / sqrt(S)");
  EXPECT_EQ(to_text(Ni / (Nj * power(Cap, Rational(2, 3)))), "N_i / (N_j S^(2/3))");
  EXPECT_EQ(to_text(product_bound), "2 N_i N_j N_k / (sqrt(S + 1) - 1) + N_i N_j");
  EXPECT_EQ(to_text(smallest({Ni * Nj, 2 * Ni + Nj - 1})), "min(N_i N_j, 2 N_i + N_j - 1)");
  EXPECT_EQ(to_text(kept(Ni + 1) * kept(Nj + 2) * 3), "3 (N_i + 1) (N_j + 2)");
}

TEST(BoundExpression, Is_written_for_LaTeX_and_Python) {
  EXPECT_EQ(to_latex(product_bound),
            "\\frac{2 N_{i} N_{j} N_{k}}{\\sqrt{S + 1} - 1} + N_{i} N_{j}");
  EXPECT_EQ(to_python(product_bound), "2*N_i*N_j*N_k/((S + 1)**(1/2) - 1) + N_i*N_j");
  EXPECT_EQ(to_latex(largest({sym("Nf"), power(Cap, Rational(3, 2))})),
            "\\max\\left(\\mathit{Nf}, S^{3/2}\\right)");
  EXPECT_EQ(to_python(Ni / (2 * Nj)), "N_i/(2*N_j)");
}

TEST(BoundExpression, Is_exact_where_roots_are_rational) {
  // IOOpt, section 2: with Cap = 1023 a tile is 31 by 31.
  const Values at{{"N_i", 2000}, {"N_j", 1500}, {"N_k", 1500}, {"S", 1023}};
  EXPECT_EQ(product_bound.exact(at), Rational(9000000000) / 31 + 3000000);
  EXPECT_NEAR(static_cast<double>(product_bound.value(at)), 293322580.6, 0.1);
  EXPECT_FALSE(sqrt(Cap).exact({{"S", 2}}));
  EXPECT_EQ(sqrt(Cap).exact({{"S", Rational(9, 4)}}), Rational(3, 2));
  EXPECT_EQ(largest({Cap, Ni}).exact({{"S", 3}, {"N_i", 5}}), Rational(5));
  EXPECT_FALSE((1 / (Cap - 1)).exact({{"S", 1}}));
}

TEST(BoundExpression, Reports_a_symbol_without_a_value) {
  EXPECT_THROW(Cap.value({}), UsageError);
  EXPECT_THROW(Cap.exact({}), UsageError);
  EXPECT_THROW(1 / (Cap - Cap), std::domain_error);
  EXPECT_THROW(sqrt(Expression(-2)), std::domain_error);
}

TEST(BoundExpression, Takes_an_expression_in_a_symbols_place) {
  EXPECT_EQ((Cap * Cap + Ni).replaced("S", Nj + 1), Nj * Nj + 2 * Nj + 1 + Ni);
  EXPECT_EQ(largest({Cap, Ni}).replaced("S", Ni), Ni);
  EXPECT_EQ(sqrt(Cap + 1).replaced("S", 3 * Expression(1)), Expression(2));
}

// Sums, products, quotients and powers of random expressions are those of their values.
TEST(BoundExpression, Computes_as_numbers_do) {
  test::Random random(1);
  const Values at{{"N_i", 3}, {"N_j", Rational(5, 2)}, {"S", 7}};
  for (int round = 0; round < 300; ++round) {
    std::vector<Expression> all{Ni, Nj, Cap, Expression(Rational(2, 3)), Expression(1)};
    for (int step = 0; step < 8; ++step) {
      const Expression a = random.pick(all), b = random.pick(all);
      const long double x = a.value(at), y = b.value(at);
      Expression c;
      long double z = 0;
      switch (random.between(0, 6)) {
        case 0:
          c = a + b, z = x + y;
          break;
        case 1:
          c = a * b, z = x * y;
          break;
        case 2:
          c = a / b, z = x / y;
          break;
        case 3:
          c = sqrt(a), z = std::sqrt(x);
          break;
        case 4:
          c = power(a, Rational(-3, 2)), z = std::pow(x, -1.5L);
          break;
        case 5:
          c = largest({a, b}), z = std::max(x, y);
          break;
        default:
          c = kept(a + 2 * b), z = x + 2 * y;
          break;
      }
      if (z > 1e12L || z < 1e-12L) continue;
      ASSERT_NEAR(static_cast<double>(c.value(at) / z), 1, 1e-12) << to_text(c);
      if (const auto exact = c.exact(at)) {
        ASSERT_NEAR(static_cast<double>(to_long_double(*exact) / z), 1, 1e-12) << to_text(c);
      }
      if (to_text(c).size() < 200) all.push_back(c);
    }
  }
}

}  // namespace
}  // namespace tcsim::bounds
