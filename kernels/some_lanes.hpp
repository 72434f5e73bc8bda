// The lanes of a vector that count: as many as there are but for `lanes_short` at its end. Only
// AVX-512 has masks that cost nothing. Include it only where microkernel_body.hpp may be.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace tcsim {
namespace {

template <class T, int bytes>
struct SomeLanes {
  static constexpr bool masks = false;
};
#if defined(__AVX512F__)
template <class T>
struct SomeLanes<T, 64> {
  typedef T Vector __attribute__((vector_size(64)));
  static constexpr bool masks = true;
  using Mask = std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>;

  explicit SomeLanes(std::int64_t lanes_short)
      : mask(static_cast<Mask>(((1U << (64 / sizeof(T))) - 1U) >> lanes_short)) {}
  [[gnu::always_inline]] Vector load(const T* from) const {
    if constexpr (sizeof(T) == 4) {
      return static_cast<Vector>(_mm512_maskz_loadu_ps(mask, from));
    } else {
      return static_cast<Vector>(_mm512_maskz_loadu_pd(mask, from));
    }
  }
  [[gnu::always_inline]] void store(T* to, const Vector& what) const {
    if constexpr (sizeof(T) == 4) {
      _mm512_mask_storeu_ps(to, mask, static_cast<__m512>(what));
    } else {
      _mm512_mask_storeu_pd(to, mask, static_cast<__m512d>(what));
    }
  }

  // The same lanes of the second half: those of the first one are `what`, or stay.
  [[gnu::always_inline]] Vector load_behind(const Vector& what, const T* from) const {
    if constexpr (sizeof(T) == 4) {
      return static_cast<Vector>(
          _mm512_mask_loadu_ps(static_cast<__m512>(what), behind(), from - half));
    } else {
      return static_cast<Vector>(
          _mm512_mask_loadu_pd(static_cast<__m512d>(what), behind(), from - half));
    }
  }
  [[gnu::always_inline]] void store_behind(T* to, const Vector& what) const {
    if constexpr (sizeof(T) == 4) {
      _mm512_mask_storeu_ps(to - half, behind(), static_cast<__m512>(what));
    } else {
      _mm512_mask_storeu_pd(to - half, behind(), static_cast<__m512d>(what));
    }
  }

  static constexpr int half = 32 / sizeof(T);
  Mask behind() const { return static_cast<Mask>(mask << half); }
  Mask mask;
};
#endif

}  // namespace
}  // namespace tcsim
