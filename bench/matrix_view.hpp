// A tensor as a matrix: where the dimensions of two groups lie in memory one behind the other, BLAS
// can read or write it in place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/gemm.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

// Dimensions fused into one index, the first fastest. Those of extent 1 do not matter.
using Group = std::vector<DimId>;

std::int64_t extent(const Contraction& contraction, const Group& group);

// The dimensions of a class with an extent above 1, in the memory order of `tensor`, which has
// them.
Group in_order_of(const Contraction& contraction, TensorId tensor, DimClass of);

struct MatrixView {
  bool transposed = false;  // a row's elements are neighbours, not a column's
  std::int64_t leading = 1;
};

// The tensor with `rows` and `columns` as a matrix, its other dimensions fixed; empty if it is
// none: a group's dimensions are not one behind the other, or neither group runs with stride one.
std::optional<MatrixView> matrix_view(const Contraction& contraction, TensorId tensor,
                                      const Group& rows, const Group& columns);

// C (m x n) = A (m x k) B (k x n) + beta C, matrices seen as the views say.
template <class T>
void multiply(const Gemm& gemm, std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
              MatrixView view_a, const T* b, MatrixView view_b, T beta, T* c, MatrixView view_c);

// A nest of loops over dimensions, with the offsets that they make in some arrays.
struct LoopNest {
  struct Dim {
    std::int64_t extent;
    std::vector<std::int64_t> strides;  // elements, of each array
  };
  std::vector<Dim> dims;  // outermost first

  // Calls f(const std::int64_t* offsets) for every index.
  template <class F>
  void run(std::size_t arrays, F&& f) const {
    std::vector<std::int64_t> offsets(arrays, 0);
    step(0, offsets, f);
  }

 private:
  template <class F>
  void step(std::size_t depth, std::vector<std::int64_t>& offsets, F& f) const {
    if (depth == dims.size()) return f(static_cast<const std::int64_t*>(offsets.data()));
    const Dim& d = dims[depth];
    for (std::int64_t i = 0; i < d.extent; ++i) {
      step(depth + 1, offsets, f);
      for (std::size_t t = 0; t < offsets.size(); ++t) offsets[t] += d.strides[t];
    }
    for (std::size_t t = 0; t < offsets.size(); ++t) offsets[t] -= d.extent * d.strides[t];
  }
};

// The strides of a dimension in A, B and C.
LoopNest::Dim loop_over(const Contraction& contraction, DimId dim);

}  // namespace tcsim::bench
