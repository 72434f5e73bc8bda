// Orders of products against every binary tree over their factors.
#include "core/fusion/product_order.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <limits>
#include <random>

#include "core/error.hpp"
#include "tests/seed.hpp"

namespace tcsim::fusion {
namespace {

double places(const Product& p, IndexBits indices) {
  double n = 1;
  for (std::size_t i = 0; i < p.extents.size(); ++i) {
    if ((indices >> i & 1) != 0) n *= static_cast<double>(p.extents[i]);
  }
  return n;
}

// Joins any two of what is left until one is.
double least_of_all(const Product& p, const std::vector<IndexBits>& left) {
  if (left.size() == 1) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t j = i + 1; j < left.size(); ++j) {
      std::vector<IndexBits> next;
      IndexBits needed = p.out;
      for (std::size_t k = 0; k < left.size(); ++k) {
        if (k == i || k == j) continue;
        next.push_back(left[k]);
        needed |= left[k];
      }
      next.push_back((left[i] | left[j]) & needed);
      least = std::min(least, places(p, left[i] | left[j]) + least_of_all(p, next));
    }
  }
  return least;
}

Product random_product(std::mt19937_64& random, int factors) {
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  Product p;
  for (int i = 0; i < 2 + pick(5); ++i) p.extents.push_back(1 + pick(9));
  const IndexBits all = (IndexBits{1} << p.extents.size()) - 1;
  for (int f = 0; f < factors; ++f) {
    p.factors.push_back(static_cast<IndexBits>(random()) & static_cast<IndexBits>(random()) & all);
    p.out |= p.factors.back();
  }
  p.out &= static_cast<IndexBits>(random());
  return p;
}

// What a step says it makes is what it does, each factor and result used once.
void expect_whole(const Product& p, const ProductOrder& order) {
  ASSERT_EQ(order.steps.size() + 1, p.factors.size());
  std::vector<IndexBits> known = p.factors;
  std::vector<bool> used(2 * p.factors.size() - 1);
  double sum = 0;
  for (const ProductOrder::Step& step : order.steps) {
    for (int number : {step.left, step.right}) {
      ASSERT_LT(static_cast<std::size_t>(number), known.size());
      EXPECT_FALSE(used[static_cast<std::size_t>(number)]);
      used[static_cast<std::size_t>(number)] = true;
    }
    const IndexBits both =
        known[static_cast<std::size_t>(step.left)] | known[static_cast<std::size_t>(step.right)];
    sum += places(p, both);
    IndexBits needed = p.out;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (!used[k]) needed |= known[k];
    }
    EXPECT_EQ(step.result, both & needed);
    known.push_back(step.result);
  }
  EXPECT_DOUBLE_EQ(sum, order.multiply_adds);
}

TEST(ProductOrder, OfLeastOperationsIsTheLeastOfAllTrees) {
  std::mt19937_64 random(test::new_seed());
  for (int trial = 0; trial < 300; ++trial) {
    const Product p = random_product(random, 1 + trial % 6);
    const ProductOrder order = least_operations(p);
    EXPECT_DOUBLE_EQ(order.multiply_adds, least_of_all(p, p.factors));
    expect_whole(p, order);
  }
}

TEST(ProductOrder, OfTwelveFactorsIsFound) {
  // A chain of matrices of 2 x 2, but for one dimension of 1, at which it is best cut.
  Product p;
  for (int i = 0; i < 13; ++i) p.extents.push_back(i == 6 ? 1 : 2);
  for (int f = 0; f < most_factors; ++f) p.factors.push_back(IndexBits{3} << f);
  p.out = 1 | IndexBits{1} << 12;
  // Towards the cut each step takes 2 x 2 x 1, five on either side, and the last one as well.
  EXPECT_EQ(least_operations(p).multiply_adds, 5 * 4 + 5 * 4 + 4);
}

// A[i,k] B[k,l] C[l,j] with i, k, l, j of 2, 3, 5, 7.
Product three() { return {{2, 3, 5, 7}, {0b0011, 0b0110, 0b1100}, 0b1001}; }

TEST(ProductOrder, AsGiven) {
  const std::vector<std::string> names{"A", "B", "C"};
  const auto cost = [&](const char* text) {
    const ProductOrder order = given_order(three(), text, names, "--order");
    expect_whole(three(), order);
    return order.multiply_adds;
  };
  EXPECT_EQ(cost("((A B) C)"), 2 * 3 * 5 + 2 * 5 * 7);
  EXPECT_EQ(cost("A B C"), cost("((A B) C)"));  // of a row the first two come first
  EXPECT_EQ(cost("A*B * C"), cost("((A B) C)"));
  EXPECT_EQ(cost("A (B C)"), 3 * 5 * 7 + 2 * 3 * 7);
  EXPECT_EQ(cost("(C A) B"), 2 * 3 * 5 * 7 + 2 * 3 * 5 * 7);
  EXPECT_EQ(cost("(((A (B (C)))))"), cost("A (B C)"));
}

TEST(ProductOrder, TakesFactorsOfOneNameInTheirOrder) {
  const ProductOrder order = given_order(three(), "(A C) A", {"A", "C", "A"}, "--order");
  EXPECT_EQ(order.multiply_adds, 2 * 3 * 5 + 2 * 5 * 7);
}

TEST(ProductOrder, SaysWhereAGivenOneIsWrong) {
  const std::vector<std::string> names{"A", "B", "C"};
  const auto said = [&](const std::string& text, const std::string& place,
                        const std::string& problem) {
    try {
      given_order(three(), text, names, "--order");
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.place(), place) << text;
      EXPECT_EQ(e.problem(), problem) << text;
      EXPECT_EQ(e.mend(), "write an order as ((A B) C), with each factor once");
    }
  };
  said("(A B) D", "--order:1:7", "'D' is no factor");
  said("(A B) A", "--order:1:7", "'A' is there too often");
  said("(A B)", "--order:1:6", "C is missing");
  said("(A B C", "--order:1:7", "')' is missing");
  said("A B C)", "--order:1:6", "')' without '('");
  said("A B *", "--order:1:6", "a factor is missing");
  said("* A B C", "--order:1:1", "'*' is no factor");
  said("A () B C", "--order:1:4", "')' is no factor");
  said("", "--order:1:1", "a factor is missing");
  said("A\n  Q", "--order:2:3", "'Q' is no factor");
  said(std::string(100, '(') + "A", "--order:1:65", "too many parentheses");
}

}  // namespace
}  // namespace tcsim::fusion
