#include "sim/level.hpp"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "core/io/available_memory.hpp"
#include "sim/access_policy.hpp"
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

// Ways up to which shift_ways() is quicker than std::memmove(). Source: chosen.
constexpr std::uint32_t most_shifted = 20;

// The tags before `way` move back by one; the first one stays.
void shift_ways(Tag* set, std::uint32_t way) {
  const __m128i place = _mm_set_epi32(3, 2, 1, 0);
  for (std::uint32_t i = way & ~(lanes - 1); i > 0; i -= lanes) {
    auto* const here = reinterpret_cast<__m128i*>(set + i);
    const __m128i moved = _mm_loadu_si128(reinterpret_cast<const __m128i*>(set + i - 1));
    const __m128i stays = _mm_cmpgt_epi32(_mm_add_epi32(place, _mm_set1_epi32(static_cast<int>(i))),
                                          _mm_set1_epi32(static_cast<int>(way)));
    const __m128i old = _mm_load_si128(here);
    _mm_store_si128(here, _mm_or_si128(_mm_and_si128(stays, old), _mm_andnot_si128(stays, moved)));
  }
  auto* const first = reinterpret_cast<__m128i*>(set);
  const __m128i old = _mm_load_si128(first);
  const __m128i moved = _mm_slli_si128(old, 4);
  const __m128i stays = _mm_cmpgt_epi32(place, _mm_set1_epi32(static_cast<int>(way)));
  _mm_store_si128(first, _mm_or_si128(_mm_and_si128(stays, old), _mm_andnot_si128(stays, moved)));
}

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
  require_available(static_cast<double>(tags * sizeof(Tag)), "the simulation",
                    "the lines of the caches", "simulate smaller ones");
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
    if (way > most_shifted) {
      std::memmove(set + 1, set, way * sizeof(Tag));
    } else {
      shift_ways(set, way);
    }
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
LevelOperations operations_sse2(Replacement policy) { return operations_for<Sse2>(policy); }

void prepare(LevelData& level, Replacement policy) {
  if (policy == Replacement::lru || policy == Replacement::fifo) return;
  const std::size_t count = std::size_t{level.groups} * level.width;
  level.words.reset(new (alignment) std::uint32_t[count]);
  std::fill_n(level.words.get(), count, 0);
  if (policy != Replacement::tree_plru) return;
  for (std::uint32_t way = 0; way < level.ways; ++way) {
    TreePath path;
    for (std::uint32_t from = 0, to = level.ways; to - from > 1;) {
      const std::uint32_t middle = from + (to - from) / 2;
      path.nodes |= std::uint32_t{1} << middle;
      if (way < middle) path.bits |= std::uint32_t{1} << middle;
      (way >= middle ? from : to) = middle;
    }
    level.paths.push_back(path);
  }
}

void slice(LevelData& level, const std::vector<std::uint64_t>& line_masks) {
  level.power_of_two = false;
  level.groups_in_slice = level.groups >> line_masks.size();
  const int lane_bits = std::countr_zero(level.width);
  for (std::size_t i = 0; i < line_masks.size(); ++i) {
    level.masks.push_back(static_cast<std::uint32_t>(line_masks[i] >> lane_bits));
    for (std::uint32_t lane = 0; lane < level.width; ++lane) {
      const auto bit = static_cast<std::uint32_t>(__builtin_parityll(line_masks[i] & lane));
      level.lane_slices[lane] |= bit << i;
    }
  }
}

}  // namespace tcsim::sim
