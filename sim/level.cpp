#include "sim/level.hpp"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "sim/access_wide.hpp"

namespace tcsim::sim {

namespace {

constexpr std::align_val_t alignment{64};
constexpr std::uint32_t lanes = 4;  // tags that access_narrow compares at once

struct Sse2 {
  static constexpr std::uint32_t width = 4;
  using Vector [[gnu::vector_size(4 * width)]] = std::uint32_t;
  static constexpr Vector lane{0, 1, 2, 3};
  static constexpr Vector bit{1, 2, 4, 8};

  static void pick(const Vector& mask, const Vector& a, const Vector& b, Vector& to) {
    to = (a & mask) | (b & ~mask);
  }
  static LaneMask mask_of(const Vector& mask) {
    return static_cast<LaneMask>(_mm_movemask_ps(__m128(mask)));
  }
};

}  // namespace

void LevelData::Free::operator()(Tag* tags) const { operator delete[](tags, alignment); }

LevelData make_level(std::int64_t sets, std::int64_t ways, std::uint32_t width) {
  LevelData level;
  level.groups = static_cast<std::uint32_t>(sets) / width;
  level.ways = static_cast<std::uint32_t>(ways);
  level.width = width;
  level.power_of_two = std::has_single_bit(level.groups);
  level.magic = std::numeric_limits<std::uint64_t>::max() / level.groups + 1;
  // Padding of a narrow set keeps its vectors aligned; no line ever comes into it.
  const std::uint32_t rows = width == 1 ? (level.ways + lanes - 1) / lanes * lanes : level.ways;
  level.group_stride = std::size_t{rows} * width;
  const std::size_t tags = level.group_stride * level.groups;
  level.tags.reset(new (alignment) Tag[tags]);
  std::fill_n(level.tags.get(), tags, no_tag);
  return level;
}

// Sets one at a time, of any number of ways: the time grows with the place of the hit.
void access_narrow(const LevelData& level, std::uint32_t block, LaneMask, LaneMask dirty,
                   Missed& missed) {
  Tag* set = level.tags_of(block);
  const Tag tag = tag_of(block);
  const auto bring_to_front = [&](std::uint32_t way, Tag with) {
    std::memmove(set + 1, set, way * sizeof(Tag));
    set[0] = with | dirty;
  };
  missed.lanes = missed.dirty_victims = 0;
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag | dirty_bit));
  const __m128i any_dirty = _mm_set1_epi32(dirty_bit);
  for (std::uint32_t i = 0; i < level.ways; i += lanes) {
    const __m128i tags = _mm_load_si128(reinterpret_cast<const __m128i*>(set + i));
    const __m128i same = _mm_cmpeq_epi32(_mm_or_si128(tags, any_dirty), wanted);
    const auto found = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(same)));
    if (found == 0) continue;
    const std::uint32_t way = i + static_cast<std::uint32_t>(std::countr_zero(found));
    return bring_to_front(way, set[way]);
  }
  missed.lanes = 1;
  missed.victims[0] = set[level.ways - 1];
  missed.dirty_victims = missed.victims[0] & dirty_bit;
  bring_to_front(level.ways - 1, tag);
}

Access access_sse2(std::uint32_t ways) { return access_wide_for<Sse2>(ways); }

}  // namespace tcsim::sim
