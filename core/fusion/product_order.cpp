#include "core/fusion/product_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "core/text/lexer.hpp"

namespace tcsim::fusion {

namespace {

using FactorBits = std::uint32_t;

double volume(const Product& product, IndexBits indices) {
  double n = 1;
  for (; indices != 0; indices &= indices - 1) {
    n *= static_cast<double>(product.extents[static_cast<std::size_t>(std::countr_zero(indices))]);
  }
  return n;
}

// The indices of a product of some factors: those that the result or another factor has.
IndexBits result_of(const Product& product, FactorBits some) {
  IndexBits inside = 0, outside = product.out;
  for (std::size_t f = 0; f < product.factors.size(); ++f) {
    ((some >> f & 1) != 0 ? inside : outside) |= product.factors[f];
  }
  return inside & outside;
}

// A factor or a result, as one multiplies them.
struct Operand {
  int number = 0;
  FactorBits factors = 0;
};

Operand multiply(const Product& product, Operand left, Operand right, ProductOrder& order) {
  const auto indices = [&](const Operand& o) {
    return std::has_single_bit(o.factors)
               ? product.factors[static_cast<std::size_t>(std::countr_zero(o.factors))]
               : result_of(product, o.factors);
  };
  const FactorBits both = left.factors | right.factors;
  order.multiply_adds += volume(product, indices(left) | indices(right));
  order.steps.push_back({left.number, right.number, result_of(product, both)});
  return {static_cast<int>(product.factors.size() + order.steps.size()) - 1, both};
}

class OrderParser {
 public:
  OrderParser(const Product& product, std::string_view text, const std::vector<std::string>& names,
              const std::string& place)
      : lexer_(text, [](std::string_view rest) { return size_of_word(rest, "()*"); }),
        product_(product),
        names_(names),
        place_(place) {}

  ProductOrder order() {
    const Operand all = row(0);
    if (!lexer_.next().text.empty()) fail(lexer_.next(), "')' without '('");
    for (std::size_t f = 0; f < names_.size(); ++f) {
      if ((all.factors >> f & 1) == 0) fail(lexer_.next(), names_[f] + " is missing");
    }
    return std::move(order_);
  }

 private:
  static constexpr int max_depth = 64;

  [[noreturn]] void fail(const Token& token, const std::string& problem) const {
    throw InputError(fmt::format("{}:{}:{}", place_, token.line, token.column), problem,
                     "write an order as ((A B) C), with each factor once");
  }

  Operand row(int depth) {
    Operand all = one(depth);
    while (!lexer_.next().text.empty() && lexer_.next().text != ")") {
      if (lexer_.next().text == "*") lexer_.take();
      const Operand next = one(depth);
      all = multiply(product_, all, next, order_);
    }
    return all;
  }

  Operand one(int depth) {
    const Token token = lexer_.take();
    if (token.text == "(") {
      if (depth == max_depth) fail(token, "too many parentheses");
      const Operand inside = row(depth + 1);
      if (lexer_.next().text != ")") fail(lexer_.next(), "')' is missing");
      lexer_.take();
      return inside;
    }
    // Of factors of one name the first one that is left.
    bool known = false;
    for (std::size_t f = 0; f < names_.size(); ++f) {
      if (names_[f] != token.text) continue;
      known = true;
      const FactorBits bit = FactorBits{1} << f;
      if ((used_ & bit) != 0) continue;
      used_ |= bit;
      return {static_cast<int>(f), bit};
    }
    fail(token, token.text.empty() ? std::string("a factor is missing")
                : known            ? fmt::format("'{}' is there too often", token.text)
                                   : fmt::format("'{}' is no factor", token.text.substr(0, 64)));
  }

  Lexer lexer_;
  const Product& product_;
  const std::vector<std::string>& names_;
  const std::string& place_;
  ProductOrder order_;
  FactorBits used_ = 0;
};

}  // namespace

ProductOrder least_operations(const Product& product) {
  const std::size_t n = product.factors.size();
  assert(n >= 1 && n <= static_cast<std::size_t>(most_factors));
  const FactorBits all = (FactorBits{1} << n) - 1;
  std::vector<IndexBits> result(all + 1);
  std::vector<double> cost(all + 1, 0);
  std::vector<FactorBits> first(all + 1, 0);
  for (FactorBits some = 1; some <= all; ++some) {
    if (std::has_single_bit(some)) {
      result[some] = product.factors[static_cast<std::size_t>(std::countr_zero(some))];
      continue;
    }
    result[some] = result_of(product, some);
    cost[some] = std::numeric_limits<double>::infinity();
    // The part that holds the lowest factor, so that each split is there once.
    const FactorBits lowest = some & (~some + 1);
    for (FactorBits part = (some - 1) & some; part != 0; part = (part - 1) & some) {
      if ((part & lowest) == 0) continue;
      const FactorBits rest = some ^ part;
      const double sum = cost[part] + cost[rest] + volume(product, result[part] | result[rest]);
      if (sum < cost[some]) {
        cost[some] = sum;
        first[some] = part;
      }
    }
  }
  ProductOrder order;
  const auto build = [&](auto&& self, FactorBits some) -> Operand {
    if (std::has_single_bit(some)) return {std::countr_zero(some), some};
    const Operand left = self(self, first[some]);
    return multiply(product, left, self(self, some ^ first[some]), order);
  };
  build(build, all);
  return order;
}

ProductOrder given_order(const Product& product, std::string_view text,
                         const std::vector<std::string>& names, const std::string& place) {
  return OrderParser(product, text, names, place).order();
}

}  // namespace tcsim::fusion
