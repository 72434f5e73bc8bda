// Compiled for AVX-512F between the pragmas, and called only where the processor has it; see
// sim/access_avx2.cpp. The same sifting as in sim/access_wide.hpp, with the lanes' masks in mask
// registers.
#include <immintrin.h>

#include "sim/level.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif

namespace tcsim::sim {

namespace {

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
    const __mmask16 same = _mm512_mask_cmpeq_epi32_mask(moves, _mm512_or_epi32(old, bit), wanted);
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
