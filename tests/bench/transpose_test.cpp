// Transpositions against one loop over all elements.
#include "bench/transpose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tcsim::bench {
namespace {

using Dim = Transposition::Dim;

// Dimensions in the order of `from`, with strides that leave `gap` elements free after the first.
std::vector<Dim> permuted(const std::vector<std::int64_t>& extents, const std::vector<int>& order,
                          std::int64_t gap = 0) {
  std::vector<Dim> dims;
  std::int64_t stride = 1;
  for (std::int64_t e : extents) {
    dims.push_back({e, stride, 0});
    stride *= e + (stride == 1 ? gap : 0);
  }
  stride = 1;
  for (int d : order) {
    dims[static_cast<std::size_t>(d)].to = stride;
    stride *= extents[static_cast<std::size_t>(d)] + (stride == 1 ? gap : 0);
  }
  return dims;
}

std::int64_t last(const std::vector<Dim>& dims, std::int64_t Dim::*stride) {
  std::int64_t place = 0;
  for (const Dim& d : dims) place += (d.extent - 1) * d.*stride;
  return place;
}

void slowly(const std::vector<Dim>& dims, std::size_t depth, const double* from, double* to) {
  if (depth == dims.size()) {
    *to = *from;
    return;
  }
  for (std::int64_t i = 0; i < dims[depth].extent; ++i) {
    slowly(dims, depth + 1, from + i * dims[depth].from, to + i * dims[depth].to);
  }
}

void expect_same(const std::vector<Dim>& dims) {
  std::vector<double> from(static_cast<std::size_t>(last(dims, &Dim::from)) + 1);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<double>(i) + 1;
  // What lies between the elements must stay as it is.
  std::vector<double> expected(static_cast<std::size_t>(last(dims, &Dim::to)) + 1, -1);
  std::vector<double> actual = expected;
  slowly(dims, 0, from.data(), expected.data());
  const Transposition transposition(dims);
  transposition(from.data(), actual.data());
  EXPECT_EQ(actual, expected);
}

TEST(Transposition, Moves_every_element_of_all_orders_of_three_dimensions) {
  std::vector<int> order{0, 1, 2};
  do {
    for (const std::vector<std::int64_t>& extents :
         {std::vector<std::int64_t>{37, 5, 34}, {1, 33, 65}, {8, 1, 16}, {1, 1, 1}}) {
      expect_same(permuted(extents, order));
      expect_same(permuted(extents, order, 3));
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST(Transposition, Moves_every_element_of_random_tensors) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto any = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int i = 0; i < 200; ++i) {
    const int rank = any(1, 6);
    std::vector<std::int64_t> extents;
    std::vector<int> order;
    for (int d = 0; d < rank; ++d) {
      extents.push_back(any(1, rank > 3 ? 9 : 40));
      order.push_back(d);
    }
    std::shuffle(order.begin(), order.end(), random);
    expect_same(permuted(extents, order, any(0, 2)));
  }
}

TEST(Transposition, Copies_where_neither_side_has_a_stride_of_one) {
  expect_same({{5, 2, 3}, {7, 10, 15}});
  expect_same({{5, 14, 2}, {7, 2, 10}});
}

}  // namespace
}  // namespace tcsim::bench
