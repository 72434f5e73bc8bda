// One cache of a hierarchy. Its sets hold tags in recency order, the most recently used first, so
// that order is the LRU state and the last tag is the victim.
//
// Sets are worked on `width` at a time, because what reaches a cache is mostly runs of consecutive
// lines, and those lie in consecutive sets. A block is `width` consecutive lines, beginning at a
// multiple of `width`; its lines are called lanes, and a set of lanes is a bit mask. The tags of
// the sets of a block lie way by way, the tags of one way side by side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tcsim::sim {

// A line number shifted left by one; bit 0 says that the line is dirty.
using Tag = std::uint32_t;
inline constexpr Tag dirty_bit = 1;
inline constexpr Tag no_tag = 0xFFFFFFFE;  // of an empty way: clean, and no line has this number

constexpr Tag tag_of(std::uint32_t line) { return line << 1; }
constexpr std::uint32_t line_of(Tag tag) { return tag >> 1; }

using LaneMask = std::uint32_t;
inline constexpr std::uint32_t max_width = 16;

struct LevelData {
  // Tags of the sets of a block.
  Tag* tags_of(std::uint32_t block) const {
    const std::uint32_t group = power_of_two ? block & (groups - 1) : modulo(block);
    return tags.get() + std::size_t{group} * group_stride;
  }
  std::size_t size() const { return group_stride * groups; }  // tags, padding included
  // block % groups by two multiplications (Lemire, Kaser, Kurz 2019, exact for 32 bits).
  std::uint32_t modulo(std::uint32_t block) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>((Wide{magic * block} * groups) >> 64);
  }

  struct Free {
    void operator()(Tag* tags) const;
  };
  std::unique_ptr<Tag[], Free> tags;
  std::size_t group_stride = 0;  // tags of `width` sets
  std::uint32_t groups = 1;      // sets / width
  std::uint32_t ways = 1;
  std::uint32_t width = 1;
  bool power_of_two = true;  // groups
  std::uint64_t magic = 0;   // 2^64 / groups, rounded up
};

// An empty cache; `width` divides `sets`.
LevelData make_level(std::int64_t sets, std::int64_t ways, std::uint32_t width);

// What a level lacked, and what had to leave for it.
struct Missed {
  LaneMask lanes = 0;                  // lines that were not there, and now are
  LaneMask dirty_victims = 0;          // of those, where a dirty line left
  std::array<Tag, max_width> victims;  // tag that left, in the lanes of dirty_victims
};

// Makes lines of a block the most recently used ones of their sets, whether they were there or not,
// and those in `dirty` (a part of `lanes`) dirty.
using Access = void (*)(const LevelData& level, std::uint32_t block, LaneMask lanes, LaneMask dirty,
                        Missed& missed);

// For width 1.
void access_narrow(const LevelData&, std::uint32_t block, LaneMask, LaneMask dirty, Missed&);
Access access_sse2(std::uint32_t ways);    // for width 4
Access access_avx2(std::uint32_t ways);    // for width 8, where the processor has AVX2
Access access_avx512(std::uint32_t ways);  // for width 16, where the processor has AVX-512F

}  // namespace tcsim::sim
