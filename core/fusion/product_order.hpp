// In which order a product of many factors is multiplied, two at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tcsim::fusion {

// Indices as bits.
using IndexBits = std::uint64_t;

struct Product {
  std::vector<std::int64_t> extents;  // of each index
  std::vector<IndexBits> factors;
  IndexBits out = 0;
};

// Step k multiplies two of the factors and of the results of earlier steps, which are numbered
// behind the factors; its result has the indices that are still needed.
struct ProductOrder {
  struct Step {
    int left = 0, right = 0;
    IndexBits result = 0;
  };
  std::vector<Step> steps;
  double multiply_adds = 0;
};

inline constexpr int most_factors = 12;

// The order with the least multiply-adds of all, by dynamic programming over the sets of factors.
// At least one factor and at most most_factors.
ProductOrder least_operations(const Product& product);

// The order that a text gives, such as "((A B) (C D))"; the outermost parentheses may be left out,
// and of three in a row the first two come first. Throws InputError "place:1:column" unless it has
// each name once.
ProductOrder given_order(const Product& product, std::string_view text,
                         const std::vector<std::string>& names, const std::string& place);

}  // namespace tcsim::fusion
