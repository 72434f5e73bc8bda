// Caches behind one another, simulated line by line. The rules of a level:
//  - sets x ways, true LRU, write-back, write-allocate; a line's set is its number modulo the sets.
//  - A line that a level lacks is asked of the next level, then put in as the most recent one; the
//    line that leaves for it is written back to the next level if it is dirty, else forgotten.
//  - A write-back that finds its line makes it dirty and the most recent one; one that does not
//    puts it in, without asking further out, and what leaves for it goes the same way.
//  - No level knows what the others hold.
// The level behind the last cache is memory: it has every line.
//
// What makes it fast is that only the order of touches within a set matters. Touches of lines in
// one block (sim/level.hpp) wait together until another block of the same sets is touched, and then
// run as one. If the number of sets of every level is a multiple of `unit`, two lines that differ
// modulo `unit` never meet in a set, so they may overtake each other, and so may all that follows
// from them. Lines are counted when they cross a link, by the array that they belong to and by the
// phase that the caller is in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/model/traffic.hpp"
#include "core/schedule/plan.hpp"
#include "core/units/quantity.hpp"
#include "sim/level.hpp"

namespace tcsim::sim {

struct CacheShape {
  std::int64_t sets = 1;
  std::int64_t ways = 1;
};

// Consecutive lines, both ends included.
struct LineRun {
  std::uint32_t first = 0, last = 0;
};

// Two streams of contiguous bytes read in turns, `steps` times: the next `left_bytes`, then the
// next `right_bytes`; both at least 1. A kernel's walk along k through packed operands.
struct TwoStreams {
  std::uint64_t left = 0, right = 0;  // where they begin, byte addresses
  std::uint32_t left_bytes = 1, right_bytes = 1;
  ArrayId left_array = ArrayId::packed_A, right_array = ArrayId::packed_B;
  std::int64_t steps = 0;
};

// Line numbers have to stay below this.
inline constexpr std::int64_t max_lines = (std::int64_t{1} << 31) - 1;
// First line of an array that is not there.
inline constexpr std::uint32_t no_lines = 0xFFFFFFFF;

// How to go about it: results do not depend on it. `best` is the fastest that the sets and the
// processor allow; `narrow` runs every touch on its own, in order.
enum class Engine { narrow, sse2, best };

class Hierarchy {
 public:
  // `first_lines`: where each array begins; its lines reach up to the next array. A line has
  // 2^line_bits bytes. At least one cache; at least one set and way in each, together at most
  // max_lines.
  Hierarchy(const std::vector<CacheShape>& caches,
            const std::array<std::uint32_t, array_count>& first_lines, int line_bits,
            Engine engine = Engine::best);

  // What crosses a link from now on counts under this phase. It begins with compute.
  void enter(Phase phase);

  // The core touches every line of the run once, in order.
  void read(LineRun run, ArrayId array) { touch<false>(run, array); }
  void write(LineRun run, ArrayId array) { touch<true>(run, array); }
  void read(const TwoStreams& streams);

  // Writes every dirty line back, level after level from the core outward; within a level set by
  // set, the least recently used line first. They stay where they are, clean. To be called at the
  // end: what is counted is complete only then.
  void drain();

  int cache_count() const { return static_cast<int>(caches_.size()); }
  Lines touches() const { return Lines(touches_); }
  // Lines that the cache inside link l got over it, and that it wrote back over it; link l joins
  // level l to level l - 1, l in 1..cache_count().
  Lines fills(int l, Phase p, ArrayId a) const { return Lines(at(l, p).in[slot(a)]); }
  Lines write_backs(int l, Phase p, ArrayId a) const { return Lines(at(l, p).out[slot(a)]); }

 private:
  // Lines over the link outside a cache, by array.
  struct Counts {
    std::array<std::int64_t, array_count> in{}, out{};
  };
  struct Cache {
    LevelData data;
    Access access = nullptr;
    std::array<Counts, 2> counts{};  // by phase
  };
  // Touches of lines in one block that have not run yet.
  struct Waiting {
    std::uint32_t block = 0;
    ArrayId array = ArrayId::A;
    LaneMask lanes = 0, dirty = 0;
  };
  // The lines of an array, up to `end`; in the order of addresses.
  struct Owner {
    std::uint32_t end = 0;
    ArrayId array = ArrayId::A;
  };

  static constexpr std::size_t slot(ArrayId a) { return static_cast<std::size_t>(index(a)); }
  const Counts& at(int l, Phase p) const {
    return caches_[static_cast<std::size_t>(l) - 1].counts[static_cast<std::size_t>(index(p))];
  }

  template <bool write>
  void touch(LineRun run, ArrayId array) {
    touches_ += std::int64_t{run.last} - run.first + 1;
    const std::uint32_t last_block = run.last >> lane_bits_;
    std::uint32_t from = run.first & lane_max_;
    for (std::uint32_t block = run.first >> lane_bits_; block <= last_block; ++block) {
      const std::uint32_t to = block == last_block ? run.last & lane_max_ : lane_max_;
      const LaneMask lanes = (2u << to) - (1u << from);
      from = 0;
      Waiting& waiting = waiting_[block & waiting_mask_];
      if (waiting.block != block || waiting.array != array) {
        settle(waiting);
        waiting.block = block;
        waiting.array = array;
      }
      waiting.lanes |= lanes;
      if (write) waiting.dirty |= lanes;
    }
  }
  void read_steps(const TwoStreams& streams, std::int64_t step, std::int64_t steps);
  std::int64_t repeats(std::uint64_t begin, std::uint32_t bytes, std::int64_t step,
                       std::int64_t steps) const;
  void settle(Waiting& waiting);
  void settle_all();
  // The level inside `level`, or the core, asks it for lines, or writes lines back to it.
  void fetch(std::size_t level, std::uint32_t block, LaneMask lanes, LaneMask dirty, ArrayId array);
  void write_back(std::size_t level, std::uint32_t block, LaneMask lanes);
  void send_victims(std::size_t level, LaneMask lanes, const std::array<Tag, max_width>& victims);
  ArrayId owner(std::uint32_t line) const;

  std::vector<Cache> caches_;
  std::array<Owner, array_count> owners_;
  int line_bits_;
  std::uint32_t unit_ = 1;                      // a power of two that divides all numbers of sets
  std::uint32_t lane_bits_ = 0, lane_max_ = 0;  // log2 of the width, width - 1
  std::uint32_t waiting_mask_ = 0;              // unit / width - 1
  std::vector<Waiting> waiting_;
  std::size_t phase_ = 0;
  std::int64_t touches_ = 0;
};

}  // namespace tcsim::sim
