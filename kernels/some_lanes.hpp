// The lanes of a vector that count: as many as there are but for `lanes_short` at its end. Include
// it only where microkernel_body.hpp may be. AVX-512 has masks for all that a vector does. AVX2
// loads with one where it has to: such a load takes 7 to 11 cycles on an AMD EPYC (Zen 1), where
// another one takes one. Its stores with masks are dozens of operations on AMD's cores, by tables
// of instructions (not measured here), so two or three of shorter vectors take their place.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tcsim {
namespace {

template <class T, int bytes>
struct SomeLanes {
  static constexpr bool exist = false, masks = false;
};
#if defined(__AVX2__)
template <class T>
struct SomeLanes<T, 32> {
  typedef T Vector __attribute__((vector_size(32)));
  static constexpr bool exist = true, masks = false;
  static constexpr std::int64_t lanes = 32 / sizeof(T);

  explicit SomeLanes(std::int64_t lanes_short) : count(lanes - lanes_short) {
    if constexpr (sizeof(T) == 4) {
      mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    } else {
      mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
    }
  }
  [[gnu::always_inline]] Vector load(const T* from) const {
    if constexpr (sizeof(T) == 4) {
      return static_cast<Vector>(_mm256_maskload_ps(from, mask));
    } else {
      return static_cast<Vector>(_mm256_maskload_pd(from, mask));
    }
  }
  // Not of all lanes.
  [[gnu::always_inline]] void store(T* to, const Vector& what) const {
    if constexpr (sizeof(T) == 4) {
      const auto all = static_cast<__m256>(what);
      __m128 rest = _mm256_castps256_ps128(all);
      if (count & 4) {
        _mm_storeu_ps(to, rest);
        rest = _mm256_extractf128_ps(all, 1);
        to += 4;
      }
      if (count & 2) {
        _mm_storel_pi(reinterpret_cast<__m64*>(to), rest);
        rest = _mm_movehl_ps(rest, rest);
        to += 2;
      }
      if (count & 1) _mm_store_ss(to, rest);
    } else {
      const auto all = static_cast<__m256d>(what);
      __m128d rest = _mm256_castpd256_pd128(all);
      if (count & 2) {
        _mm_storeu_pd(to, rest);
        rest = _mm256_extractf128_pd(all, 1);
        to += 2;
      }
      if (count & 1) _mm_store_sd(to, rest);
    }
  }

  std::int64_t count;
  __m256i mask;
};

// The last `count` lanes of a vector, and zeros.
template <class T>
struct LastLanes {
  typedef T Vector __attribute__((vector_size(32)));
  static constexpr std::int64_t lanes = 32 / sizeof(T);

  explicit LastLanes(std::int64_t count) : before(lanes - count) {
    alignas(64) static constexpr std::int32_t masks[16] = {0,  0,  0,  0,  0,  0,  0,  0,
                                                           -1, -1, -1, -1, -1, -1, -1, -1};
    const auto* const first = reinterpret_cast<const char*>(masks) + count * sizeof(T);
    mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first));
  }
  // From `from` on; what lies before is loaded, too, as far as it is no further than `begin`.
  [[gnu::always_inline]] Vector load(const T* from, const T* begin) const {
    const T* const at = from - before;
    if constexpr (sizeof(T) == 4) {
      if (at < begin) return static_cast<Vector>(_mm256_maskload_ps(at, mask));
      return static_cast<Vector>(_mm256_and_ps(_mm256_loadu_ps(at), _mm256_castsi256_ps(mask)));
    } else {
      if (at < begin) return static_cast<Vector>(_mm256_maskload_pd(at, mask));
      return static_cast<Vector>(_mm256_and_pd(_mm256_loadu_pd(at), _mm256_castsi256_pd(mask)));
    }
  }

  std::int64_t before;
  __m256i mask;
};
#endif
#if defined(__AVX512F__)
template <class T>
struct SomeLanes<T, 64> {
  typedef T Vector __attribute__((vector_size(64)));
  static constexpr bool exist = true, masks = true;
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
