// The operations of sim/cache.hpp that every access makes.
#pragma once

#include <emmintrin.h>

#include "sim/cache.hpp"

namespace tcsim::sim {

inline std::uint64_t Cache::equal_bytes(const char* bytes, std::uint8_t wanted) const {
  const __m128i all = _mm_set1_epi8(static_cast<char>(wanted));
  const auto equal = [&](std::size_t from) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + from));
    return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, all)))};
  };
  std::uint64_t mask = equal(0);
  for (std::size_t from = 16; from < padded_; from += 16) mask |= equal(from) << from;
  return mask;
}

[[gnu::always_inline]] inline Cache::Slot Cache::find(std::uint64_t line) const {
  if (large_) return large_->find(line);
  const std::uint64_t set = set_of(line);
  const char* const row = row_of(set);
  std::uint64_t candidates = equal_bytes(row, byte_of(line)) & masks(row).taken;
  const std::uint64_t* const lines = numbers(row);
  for (; candidates != 0; candidates &= candidates - 1) {
    const int way = std::countr_zero(candidates);
    if (lines[way] == line) return static_cast<Slot>(set << way_bits) | way;
  }
  return absent;
}

// Ranks say how many ways were brought to the front since; a permutation of 0 ... ways - 1, and 127
// behind the ways.
inline void Cache::bring_to_front(std::uint8_t* ranks, int way) const {
  const __m128i before = _mm_set1_epi8(static_cast<char>(ranks[way]));
  for (std::size_t from = 0; from < padded_; from += 16) {
    auto* const at = reinterpret_cast<__m128i*>(ranks + from);
    const __m128i some = _mm_loadu_si128(at);
    _mm_storeu_si128(at, _mm_sub_epi8(some, _mm_cmplt_epi8(some, before)));
  }
  ranks[way] = 0;
}

// See sim/policy for what each of them is.
inline void Cache::used(char* row, int way) {
  if (qlru_) return used_qlru(row, way);
  switch (policy_) {
    case Replacement::lru:
      return bring_to_front(state(row), way);
    case Replacement::tree_plru: {
      std::uint64_t& word = masks(row).word;
      const Path& path = paths_[static_cast<std::size_t>(way)];
      word = (word & ~path.nodes) | path.bits;
      return;
    }
    case Replacement::bit_plru: {
      std::uint64_t& marks = masks(row).word;
      marks |= std::uint64_t{1} << way;
      if (marks == all_) marks = std::uint64_t{1} << way;
      return;
    }
    case Replacement::srrip:
    case Replacement::brrip:
      state(row)[way] = 0;
      return;
    case Replacement::fifo:
    case Replacement::random:
      return;
  }
}

}  // namespace tcsim::sim
