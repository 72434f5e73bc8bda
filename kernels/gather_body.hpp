// The one body of all gathers, as microkernel_body.hpp is of the microkernels; include it only
// where that one may be.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tcsim {
namespace {

// Each takes a vector's worth of elements, and says how many those are. With all masks set: GCC 12
// warns of the intrinsics that have none.
#if defined(__AVX512F__)
[[gnu::always_inline]] inline int gather_vector(const double* from, const std::int32_t* offsets,
                                                double* to) {
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets));
  _mm512_storeu_pd(to,
                   _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, at, from, sizeof(double)));
  return 8;
}
[[gnu::always_inline]] inline int gather_vector(const float* from, const std::int32_t* offsets,
                                                float* to) {
  const __m512i at = _mm512_loadu_si512(offsets);
  _mm512_storeu_ps(to,
                   _mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, at, from, sizeof(float)));
  return 16;
}
#elif defined(__AVX2__)
[[gnu::always_inline]] inline int gather_vector(const double* from, const std::int32_t* offsets,
                                                double* to) {
  const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(offsets));
  _mm256_storeu_pd(
      to, _mm256_mask_i32gather_pd(_mm256_setzero_pd(), from, at,
                                   _mm256_castsi256_pd(_mm256_set1_epi64x(-1)), sizeof(double)));
  return 4;
}
[[gnu::always_inline]] inline int gather_vector(const float* from, const std::int32_t* offsets,
                                                float* to) {
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets));
  _mm256_storeu_ps(
      to, _mm256_mask_i32gather_ps(_mm256_setzero_ps(), from, at,
                                   _mm256_castsi256_ps(_mm256_set1_epi32(-1)), sizeof(float)));
  return 8;
}
#else
template <class T>
[[gnu::always_inline]] inline int gather_vector(const T* from, const std::int32_t* offsets, T* to) {
  *to = from[*offsets];
  return 1;
}
#endif

// As Gather.
template <class T, int lanes>
[[gnu::always_inline]] inline void gather(const T* from, const std::int32_t* offsets,
                                          std::int64_t count, T* to) {
  std::int64_t i = 0;
  while (i + lanes <= count) i += gather_vector(from, offsets + i, to + i);
  for (; i < count; ++i) to[i] = from[offsets[i]];
}

}  // namespace
}  // namespace tcsim
