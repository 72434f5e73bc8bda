#include "bench/matrix_view.hpp"

#include <algorithm>

namespace tcsim::bench {

namespace {

// Stride of the fused index; empty if it has no single one.
std::optional<std::int64_t> fused_stride(const Contraction& c, TensorId t, const Group& group) {
  std::int64_t first = 0, next = 0;
  for (DimId d : group) {
    const std::int64_t e = c.dim(d).extent, stride = c.stride(t, d).value();
    if (e == 1) continue;
    if (first == 0) {
      first = stride;
    } else if (stride != next) {
      return {};
    }
    next = stride * e;
  }
  return first;
}

}  // namespace

std::int64_t extent(const Contraction& c, const Group& group) {
  std::int64_t product = 1;
  for (DimId d : group) product *= c.dim(d).extent;
  return product;
}

Group in_order_of(const Contraction& c, TensorId t, DimClass of) {
  Group group;
  for (DimId d : c.memory_order(t)) {
    if (c.dim_class(d) == of && c.dim(d).extent > 1) group.push_back(d);
  }
  return group;
}

std::optional<MatrixView> matrix_view(const Contraction& c, TensorId t, const Group& rows,
                                      const Group& columns) {
  const auto down = fused_stride(c, t, rows), across = fused_stride(c, t, columns);
  if (!down || !across) return {};
  const std::int64_t height = extent(c, rows), width = extent(c, columns);
  // A single row or column needs no stride of its own.
  if (height == 1 || *down == 1) return MatrixView{false, width == 1 ? height : *across};
  if (width == 1 || *across == 1) return MatrixView{true, *down};
  return {};
}

template <class T>
void multiply(const Gemm& gemm, std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
              MatrixView view_a, const T* b, MatrixView view_b, T beta, T* c, MatrixView view_c) {
  if (view_c.transposed) {  // C^T = B^T A^T
    gemm(GemmCall<T>{!view_b.transposed, !view_a.transposed, n, m, k, b, view_b.leading, a,
                     view_a.leading, beta, c, view_c.leading});
  } else {
    gemm(GemmCall<T>{view_a.transposed, view_b.transposed, m, n, k, a, view_a.leading, b,
                     view_b.leading, beta, c, view_c.leading});
  }
}

template void multiply(const Gemm&, std::int64_t, std::int64_t, std::int64_t, const double*,
                       MatrixView, const double*, MatrixView, double, double*, MatrixView);
template void multiply(const Gemm&, std::int64_t, std::int64_t, std::int64_t, const float*,
                       MatrixView, const float*, MatrixView, float, float*, MatrixView);

LoopNest::Dim loop_over(const Contraction& c, DimId d) {
  LoopNest::Dim dim{c.dim(d).extent, {}};
  for (TensorId t : all_tensors) dim.strides.push_back(c.stride(t, d).value());
  return dim;
}

}  // namespace tcsim::bench
