// Where along an axis of a tensor an access is: a sum of coefficient x dimension, such as 2*h + r.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim {

struct Affine {
  struct Term {
    DimId dim;
    std::int64_t coefficient = 1;  // 1 to 2^62 - 1
    bool operator==(const Term&) const = default;
  };
  std::vector<Term> terms;  // at least one, each dimension once; of a Program, in their order
  bool operator==(const Affine&) const = default;
};

// How many places along its axis an index needs, from 0 to its last value; nothing beyond 2^63.
// `extent_of` gives a dimension's extent.
template <class F>
std::optional<std::int64_t> places_of(const Affine& affine, F&& extent_of) {
  std::int64_t places = 1;
  for (const Affine::Term& term : affine.terms) {
    std::int64_t far = 0;
    if (__builtin_mul_overflow(term.coefficient, extent_of(term.dim) - 1, &far) ||
        __builtin_add_overflow(places, far, &places)) {
      return {};
    }
  }
  return places;
}

// How many different values a i + b j takes, i below m and j below n; a and b are coefficients, m
// and n at least 1. Two pairs (i, j) have one value where they are a multiple of (b, -a) / gcd
// apart, so each value has one pair without a predecessor along that. Exact for whole m and n, and
// linear in each between them.
double different_values(std::int64_t a, double m, std::int64_t b, double n);

}  // namespace tcsim
