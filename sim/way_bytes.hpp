// A byte for each way of a set, 16 of them a vector: of the lines' numbers, and of how many ways
// were used since. They are aligned to vectors, and as many as fill them.
#pragma once

#include <emmintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tcsim::sim {

struct WayVector {
  alignas(16) std::array<char, 16> bytes;
  __m128i operator()() const {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes.data()));
  }
};
// A byte sixteen times, by its value; and bytes of ones but for one, by its place.
inline constexpr auto repeated = [] {
  std::array<WayVector, 256> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bytes.fill(static_cast<char>(i));
  return all;
}();
inline constexpr auto all_but = [] {
  std::array<WayVector, 16> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].bytes.fill(-1);
    all[i].bytes[i] = 0;
  }
  return all;
}();

inline std::uint8_t byte_of(std::uint64_t line) {
  return static_cast<std::uint8_t>((line * 0x9E3779B97F4A7C15) >> 56);
}
// Which of the bytes are like this one.
inline std::uint64_t equal_bytes(const char* bytes, std::size_t count, std::uint8_t wanted) {
  std::uint64_t mask = 0;
  for (std::size_t from = 0; from < count; from += 16) {
    const __m128i here = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes + from));
    const int same = _mm_movemask_epi8(_mm_cmpeq_epi8(here, repeated[wanted]()));
    mask |= std::uint64_t{static_cast<unsigned>(same)} << from;
  }
  return mask;
}
// The way becomes the latest used one: ranks say how many ways were used since, 127 behind the
// ways. Writes whole vectors: a byte for itself would hold up the next look at the row.
inline void bring_to_front(char* ranks, std::size_t count, int way) {
  const __m128i before = repeated[static_cast<std::uint8_t>(ranks[way])]();
  const auto place = static_cast<std::size_t>(way);
  for (std::size_t from = 0; from < count; from += 16) {
    auto* const at = reinterpret_cast<__m128i*>(ranks + from);
    const __m128i some = _mm_load_si128(at);
    __m128i moved = _mm_sub_epi8(some, _mm_cmplt_epi8(some, before));
    if (place - from < 16) moved = _mm_and_si128(moved, all_but[place % 16]());
    _mm_store_si128(at, moved);
  }
}

}  // namespace tcsim::sim
