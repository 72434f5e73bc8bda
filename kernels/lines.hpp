// Products without sums: lines of C, which a vector by a number is, or by a vector. No microkernel
// is needed for them, but an instruction set; so lines_*.cpp include types, intrinsics and
// lines_body.hpp alone, as those of the microkernels do.
#pragma once

#include <cstdint>

#include "kernels/microkernel.hpp"

namespace tcsim {

// Neighbours in C, and in the operands, that are products without sums.
struct LinePiece {
  std::int64_t left, right, to;  // where they begin
  std::int64_t count;
};
// The same pieces of a column.
template <class T>
struct LineColumn {
  const T* right;
  T* to;
  std::int64_t ahead;  // lines of C so many elements further are fetched meanwhile
};
// to[i] = alpha left[i] right + beta to[i] for all i of each piece of each column, or with `each`
// of right[i]. `to` is not read where beta is zero, and overlaps neither of the others.
template <class T>
struct LineTask {
  const T* left;
  Update<T> update;
  bool each;
  const LinePiece* piece;
  std::int64_t pieces;
  const LineColumn<T>* column;
  std::int64_t columns;
};
template <class T>
using LinesCode = void(const LineTask<T>& task);
template <class T>
using MultiplyLines = LinesCode<T>*;

LinesCode<float> lines_f32_avx512, lines_f32_avx2, lines_f32_plain;
LinesCode<double> lines_f64_avx512, lines_f64_avx2, lines_f64_plain;

}  // namespace tcsim
