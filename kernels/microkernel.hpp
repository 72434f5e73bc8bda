// The vector microkernels: one plain function per shape, each compiled for its instruction set in a
// file of its own. Those files include nothing but this header and the two *_body.hpp, so that no
// inline library function compiled with AVX can replace a baseline one at link time.
#pragma once

#include <cstdint>

namespace tcsim {

// C[mr x nr] = left right (overwrite) or += left right.
// left:  kc columns of mr contiguous elements; right: kc rows of nr contiguous elements.
// c:     first element; column j is mr contiguous elements at c + columns[j], j < nr.
template <class T>
using MicrokernelCode = void(std::int64_t kc, const T* left, const T* right, T* c,
                             const std::int64_t* columns, bool overwrite);
template <class T>
using Microkernel = MicrokernelCode<T>*;

// to[columns[c] + r] = from[rows[r] + c] for all r < row_count, c < column_count: rows that run
// along memory in `from` become columns that do in `to`. The two do not overlap.
template <class T>
using TransposeCode = void(std::int64_t row_count, std::int64_t column_count, const T* from,
                           const std::int64_t* rows, T* to, const std::int64_t* columns);
template <class T>
using Transpose = TransposeCode<T>*;

// The shapes of each instruction set, DO(T, type, mr, nr); the preferred one of a type comes first.
// They are the optimizer's choices (core/optimize/tiling.hpp, kernel_choices()), in vectors 3x8,
// 2x14 and 4x6 for 32 registers, 2x6, 3x4 and 1x12 for 16.
#define TCSIM_AVX512_SHAPES(DO) \
  DO(double, f64, 24, 8)        \
  DO(double, f64, 16, 14)       \
  DO(double, f64, 32, 6) DO(float, f32, 48, 8) DO(float, f32, 32, 14) DO(float, f32, 64, 6)
#define TCSIM_AVX2_SHAPES(DO) \
  DO(double, f64, 8, 6)       \
  DO(double, f64, 12, 4)      \
  DO(double, f64, 4, 12) DO(float, f32, 16, 6) DO(float, f32, 24, 4) DO(float, f32, 8, 12)
#define TCSIM_PLAIN_SHAPES(DO) \
  DO(double, f64, 4, 6)        \
  DO(double, f64, 6, 4)        \
  DO(double, f64, 2, 12) DO(float, f32, 8, 6) DO(float, f32, 12, 4) DO(float, f32, 4, 12)

#define TCSIM_DECLARE_AVX512(T, type, mr, nr) \
  MicrokernelCode<T> multiply_##type##_##mr##x##nr##_avx512;
#define TCSIM_DECLARE_AVX2(T, type, mr, nr) MicrokernelCode<T> multiply_##type##_##mr##x##nr##_avx2;
#define TCSIM_DECLARE_PLAIN(T, type, mr, nr) \
  MicrokernelCode<T> multiply_##type##_##mr##x##nr##_plain;
TCSIM_AVX512_SHAPES(TCSIM_DECLARE_AVX512)
TCSIM_AVX2_SHAPES(TCSIM_DECLARE_AVX2)
TCSIM_PLAIN_SHAPES(TCSIM_DECLARE_PLAIN)

TransposeCode<float> transpose_f32_avx512, transpose_f32_avx2, transpose_f32_plain;
TransposeCode<double> transpose_f64_avx512, transpose_f64_avx2, transpose_f64_plain;

}  // namespace tcsim
