// One cache of a hierarchy. Under LRU and FIFO its sets hold tags in the order of use or coming,
// the latest first, so that order is the policy's state and the last tag is the victim. Under the
// others a tag stays in its way, and each set has a word.
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
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim::sim {

// A line number shifted left by one; bit 0 says that the line is dirty.
using Tag = std::uint32_t;
inline constexpr Tag dirty_bit = 1;
inline constexpr Tag no_tag = 0xFFFFFFFE;  // of an empty way: clean, and no line has this number

constexpr Tag tag_of(std::uint32_t line) { return line << 1; }
constexpr std::uint32_t line_of(Tag tag) { return tag >> 1; }

using LaneMask = std::uint32_t;
inline constexpr std::uint32_t max_width = 16;

// Tree PLRU: the nodes above a way, and what a use of it makes of them (sim/policy/tree_plru.hpp).
// A node is known by the first way of its right half; its bit is set if the victim is there.
struct TreePath {
  std::uint32_t nodes = 0, bits = 0;
};

// Lines whose numbers modulo `period` are in [first, first + lines). All are powers of two but
// `first`, a multiple of `lines`. All lines if not said otherwise.
struct LinePart {
  std::uint32_t first = 0, lines = 1, period = 1;

  bool has(std::uint64_t line) const { return ((line - first) & (period - 1)) < lines; }
};

// Numbers the blocks of a part of the lines without gaps.
struct BlockNumbers {
  std::uint32_t operator()(std::uint32_t block) const {
    return (block >> period_bits) << part_bits | (block & part_mask);
  }
  std::uint32_t period_bits = 0, part_bits = 0, part_mask = 0;
};

struct LevelData {
  // Tags of the sets of a block.
  Tag* tags_of(std::uint32_t block) const {
    return tags.get() + std::size_t{group_of(block)} * group_stride;
  }
  std::uint32_t group_of(std::uint32_t block) const {
    const std::uint32_t number = numbers(block);
    if (power_of_two) return number & (groups - 1);
    return masks.empty() ? modulo(number) : group_in_slice(block, number);
  }
  // Words of the sets of a block.
  std::uint32_t* words_of(std::uint32_t block) const {
    return words.get() + std::size_t{group_of(block)} * width;
  }
  std::size_t size() const { return group_stride * groups; }  // tags, padding included
  std::size_t word_count() const { return words ? std::size_t{groups} * width : 0; }
  // number % groups by two multiplications (Lemire, Kaser, Kurz 2019, exact for 32 bits).
  std::uint32_t modulo(std::uint32_t number) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>((Wide{magic * number} * groups) >> 64);
  }
  // Of a sliced level. A slice's number is exclusive or's of bits of the line's, so lanes of a
  // block lie in the slice of its first line, each exclusive or with a number of its own. Lane i of
  // group (s, g) has the set g of slice s ^ lane_slices[i].
  std::uint32_t group_in_slice(std::uint32_t block, std::uint32_t number) const {
    std::uint32_t slice = 0;
    for (std::size_t i = 0; i < masks.size(); ++i) {
      slice |= static_cast<std::uint32_t>(__builtin_parity(block & masks[i])) << i;
    }
    const bool masked = (groups_in_slice & (groups_in_slice - 1)) == 0;
    const std::uint32_t group = masked ? number & (groups_in_slice - 1) : number % groups_in_slice;
    return slice * groups_in_slice + group;
  }

  struct Free {
    void operator()(Tag* tags) const;
  };
  std::unique_ptr<Tag[], Free> tags;
  std::unique_ptr<std::uint32_t[], Free> words;  // by set; none under LRU and FIFO
  std::vector<TreePath> paths;                   // by way; of tree PLRU
  std::size_t group_stride = 0;                  // tags of `width` sets
  std::uint32_t groups = 1;                      // sets / width, of the lines simulated
  BlockNumbers numbers;
  std::uint32_t ways = 1;
  std::uint32_t width = 1;
  bool power_of_two = true;          // groups, and the level is not sliced
  std::uint64_t magic = 0;           // 2^64 / groups, rounded up
  std::vector<std::uint32_t> masks;  // of block numbers, of slices
  std::array<std::uint32_t, max_width> lane_slices{};
  std::uint32_t groups_in_slice = 1;
};

// An empty cache under LRU; `width` divides `sets`.
LevelData make_level(std::int64_t sets, std::int64_t ways, std::uint32_t width);
// Policies with a word for each set have so many ways at most.
inline constexpr std::int64_t most_ways_of_words = 32;
// Gives an empty cache what another policy needs: fifo, tree-plru or bit-plru.
void prepare(LevelData& level, Replacement policy);
// Cuts an empty cache into slices by masks of line numbers; the sets of a slice are a multiple of
// the width.
void slice(LevelData& level, const std::vector<std::uint64_t>& line_masks);

// What a level lacked, and what had to leave for it.
struct Missed {
  LaneMask lanes = 0;                  // lines that were not there, and now are
  LaneMask dirty_victims = 0;          // of those, where a dirty line left
  LaneMask victims_any = 0;            // and where any did; only LevelOperations say it
  std::array<Tag, max_width> victims;  // tag that left, in these lanes
};

// What was found.
struct Found {
  LaneMask lanes = 0, dirty = 0;
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

// Which lines of a block are there; nothing changes.
using Probe = Found (*)(const LevelData& level, std::uint32_t block, LaneMask lanes);
// Lines of a block leave; those that are there, and which of them are dirty. `use`: they are used
// before.
using Remove = Found (*)(const LevelData& level, std::uint32_t block, LaneMask lanes, bool use);

// For lru, fifo, tree-plru and bit-plru. A line that is not there goes to the first empty way, or
// the policy says which one leaves; what is done with it is a use.
struct LevelOperations {
  Access access = nullptr;
  Probe probe = nullptr;
  Remove remove = nullptr;
};
LevelOperations operations_sse2(Replacement policy);
LevelOperations operations_avx2(Replacement policy);
LevelOperations operations_avx512(Replacement policy);

}  // namespace tcsim::sim
