// The vector microkernels: one plain function per shape, each compiled for its instruction set in a
// file of its own. Those files include nothing but this header and microkernel_body.hpp, so that no
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

MicrokernelCode<double> multiply_f64_4x4_plain;
MicrokernelCode<double> multiply_f64_8x6_avx2;
MicrokernelCode<double> multiply_f64_24x8_avx512;
MicrokernelCode<float> multiply_f32_8x4_plain;
MicrokernelCode<float> multiply_f32_16x6_avx2;
MicrokernelCode<float> multiply_f32_48x8_avx512;

}  // namespace tcsim
