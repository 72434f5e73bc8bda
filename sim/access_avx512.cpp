// Compiled for AVX-512F between the pragmas, and called only where the processor has it; see
// sim/access_avx2.cpp. The same sifting as in sim/access_wide.hpp, with the lanes' masks in mask
// registers.
#include <immintrin.h>

#include <cstring>

#include "sim/level.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif

#include "sim/access_policy.hpp"

namespace tcsim::sim {

namespace {

struct Avx512 {
  static constexpr std::uint32_t width = 16;
  using Vector [[gnu::vector_size(4 * width)]] = std::uint32_t;
  static constexpr Vector lane{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static constexpr Vector bit{1,   2,   4,    8,    16,   32,   64,    128,
                              256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

  static void pick(const Vector& mask, const Vector& a, const Vector& b, Vector& to) {
    to = Vector(_mm512_mask_mov_epi32(__m512i(b), mask_of(mask), __m512i(a)));
  }
  static __mmask16 mask_of(const Vector& mask) {
    return _mm512_test_epi32_mask(__m512i(mask), __m512i(mask));
  }
};

template <std::uint32_t Ways>
void access(const LevelData& level, std::uint32_t block, LaneMask lanes, LaneMask dirty,
            Missed& missed) {
  const std::uint32_t ways = Ways ? Ways : level.ways;
  Tag* const way = level.tags_of(block);
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i bit = _mm512_set1_epi32(dirty_bit);
  const __m512i line = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(tag_of(block * 16))),
                                        _mm512_slli_epi32(lane, 1));
  const __m512i wanted = _mm512_or_epi32(line, bit);
  const auto active = static_cast<__mmask16>(lanes);
  auto moves = active;    // lanes whose further ways move by one
  __m512i moving = line;  // the tag that comes to the next way
  __mmask16 found_dirty = 0;
#pragma GCC unroll 20
  for (std::uint32_t i = 0; i < ways; ++i) {
    const __m512i old = _mm512_load_si512(way + 16 * i);
    // A line is in one way at most, so this need not wait for the ways before.
    const __mmask16 same = _mm512_mask_cmpeq_epi32_mask(active, _mm512_or_epi32(old, bit), wanted);
    _mm512_mask_store_epi32(way + 16 * i, moves, moving);
    found_dirty = _kor_mask16(found_dirty, _mm512_mask_test_epi32_mask(same, old, bit));
    moves = _kandn_mask16(same, moves);
    moving = old;
    // Every so often: hits leave the ways behind them alone.
    if (i % 4 == 3 && moves == 0) break;
  }
  const auto written = static_cast<__mmask16>(found_dirty | dirty);
  if (written) {
    const __m512i first = _mm512_load_si512(way);
    _mm512_mask_store_epi32(way, written, _mm512_or_epi32(first, bit));
  }
  missed.lanes = moves;
  missed.dirty_victims = _mm512_mask_test_epi32_mask(moves, moving, bit);
  if (missed.dirty_victims) _mm512_storeu_si512(missed.victims.data(), moving);
}

}  // namespace

LevelOperations operations_avx512(Replacement policy) { return operations_for<Avx512>(policy); }

Access access_avx512(std::uint32_t ways) {
  switch (ways) {
    case 4:
      return access<4>;
    case 8:
      return access<8>;
    case 12:
      return access<12>;
    case 16:
      return access<16>;
    case 20:
      return access<20>;
    default:
      return access<0>;
  }
}

}  // namespace tcsim::sim

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
