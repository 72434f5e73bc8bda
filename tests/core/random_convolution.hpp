// Random small convolutions: one or two axes of the image, any strides, dilations, memory orders
// and places left over, with and without a batch and groups.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/workload/contraction.hpp"

namespace tcsim::test {

// `between(low, high)` draws a whole number.
template <class Between>
Contraction random_convolution(Between&& between, ElementType type) {
  std::vector<Dimension> dims;
  const auto dim = [&](char name, std::int64_t extent) {
    dims.push_back({name, extent});
    return Affine{{{DimId{static_cast<int>(dims.size()) - 1}, 1}}};
  };
  const auto extent_of = [&](const Affine& a) {
    return dims[static_cast<std::size_t>(index(a.terms.front().dim))].extent;
  };
  IndexedTensor image{"I", {}, {}, {}}, filter{"W", {}, {}, {}}, out{"O", {}, {}, {}};
  const auto add = [](IndexedTensor& t, const Affine& axis, std::int64_t extent) {
    t.axes.push_back(axis);
    t.extents.push_back(extent);
  };
  const auto maybe = [&](char name, std::vector<IndexedTensor*> tensors) {
    if (between(0, 1) == 0) return;
    const Affine d = dim(name, between(1, 4));
    for (IndexedTensor* t : tensors) add(*t, d, extent_of(d));
  };
  maybe('n', {&image, &out});
  maybe('g', {&image, &filter, &out});
  maybe('c', {&image, &filter});
  maybe('k', {&filter, &out});
  const std::int64_t axes = between(1, 2);
  for (std::int64_t i = 0; i < axes; ++i) {
    const Affine x = dim(i == 0 ? 'x' : 'y', between(1, 7));
    const Affine s = dim(i == 0 ? 's' : 'r', between(1, 4));
    Affine sum{{{x.terms.front().dim, between(1, 3)}, {s.terms.front().dim, between(1, 2)}}};
    const std::int64_t reach = sum.terms[0].coefficient * (extent_of(x) - 1) +
                               sum.terms[1].coefficient * (extent_of(s) - 1) + 1;
    add(image, sum, reach + std::max<std::int64_t>(0, between(-3, 2)));
    add(filter, s, extent_of(s));
    add(out, x, extent_of(x));
  }
  for (IndexedTensor* t : {&image, &filter, &out}) {
    for (std::size_t i = 0; i < t->axes.size(); ++i) t->order.push_back(static_cast<int>(i));
    for (std::size_t i = t->order.size(); i > 1; --i) {
      std::swap(t->order[i - 1],
                t->order[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }
  // Either operand may be the image.
  std::array<IndexedTensor, 3> tensors{image, filter, out};
  if (between(0, 3) == 0) std::swap(tensors[0], tensors[1]);
  return Contraction("convolution", std::move(dims), std::move(tensors), type);
}

}  // namespace tcsim::test
