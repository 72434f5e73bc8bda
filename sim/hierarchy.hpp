// Caches behind one another, simulated line by line. The rules of a plain level:
//  - sets x ways, true LRU, write-back, write-allocate; a line's set is its number modulo the sets.
//  - A line that a level lacks is asked of the next level, then put in as the most recent one; the
//    line that leaves for it is written back to the next level if it is dirty, else forgotten.
//  - A write-back that finds its line makes it dirty and the most recent one; one that does not
//    puts it in, without asking further out, and what leaves for it goes the same way.
//  - No level knows what the others hold.
// The level behind the last cache is memory: it has every line. A level may also have another
// policy that keeps to its set, be sliced, inclusive or exclusive; docs/simulator.md, "Rules of a
// level".
//
// It is fast because only the order of touches within a set matters. Touches of lines in one block
// (sim/level.hpp) wait together until other lines of the same sets are touched, and then run as
// one. Let the number of sets of a level and of every level behind it be a multiple of `unit`. Two
// lines that differ modulo `unit` never meet in a set there, so they may overtake each other, and
// so may all that follows from them. For the same reason a part of the lines can be simulated
// alone: on another processor, or as a sample. What an inclusive level takes away, and what an
// exclusive one gives back, lies in the sets of the line that is asked for, modulo `unit`; so there
// requests of one line do not wait, but lines still overtake each other.
//
// Lines are counted when they cross a link, by the array that they belong to and by the phase that
// the caller is in.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/traffic.hpp"
#include "core/plan/plan.hpp"
#include "core/units/quantity.hpp"
#include "sim/level.hpp"

namespace tcsim::sim {

struct CacheShape {
  std::int64_t sets = 1;
  std::int64_t ways = 1;
  // Others than these need runs_by_blocks() (sim/config.hpp).
  Replacement replacement = Replacement::lru;
  Inclusion inclusion = Inclusion::neither;
  std::vector<std::uint64_t> masks = {};  // of line numbers, of slices (core/machine/set_index.hpp)

  bool is_plain() const {
    return replacement == Replacement::lru && inclusion == Inclusion::neither && masks.empty();
  }
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
  ArrayId left_array{}, right_array{};
  std::int64_t steps = 0;
};

// Line numbers have to stay below this.
inline constexpr std::int64_t max_lines = (std::int64_t{1} << 31) - 1;
// No line has this number.
inline constexpr std::uint32_t no_lines = 0xFFFFFFFF;

// How to go about it: results do not depend on it. `best` is the fastest that the sets and the
// processor allow; `narrow` runs every touch on its own, in order.
enum class Engine { narrow, sse2, avx2, best };

// Lines over the link outside a cache, by array.
struct LinkLines {
  ByArray<std::int64_t> in, out;
  std::int64_t written_in = 0;   // lines that came to the cache as write-backs, not being there
  std::int64_t clean_out = 0;    // of `out`, to an exclusive level
  std::int64_t invalidated = 0;  // lines that an inclusive level took away
  std::int64_t moved_in = 0;     // lines that an exclusive level gave to the one inside it
};
using PhaseLines = ByPhase<LinkLines>;

// What a level is asked for by the one inside it: lines of one block, fetched or written back.
struct Request {
  std::uint32_t block = 0;
  std::uint16_t lanes = 0;
  std::uint8_t array = 0;
  bool write_back : 1 = false;
  bool clean : 1 = false;    // a write-back to an exclusive level
  bool packing : 1 = false;  // the phase
  std::uint8_t unused : 5 = 0;

  // The array and what is said of the lines: all but which they are.
  std::uint16_t kind() const {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(*this) >> 48);
  }
  static Request of(std::uint32_t block, std::uint16_t lanes, std::uint16_t kind) {
    return std::bit_cast<Request>(std::uint64_t{kind} << 48 | std::uint64_t{lanes} << 32 | block);
  }
  bool may_join(const Request& r) const { return block == r.block && kind() == r.kind(); }
  LaneMask dirty() const { return write_back && !clean ? lanes : 0; }
};

// Requests in order, up to a number of them; later ones only set `full`.
struct RequestLog {
  std::vector<Request> requests;
  std::size_t most = 0;
  bool full = false;
};

struct Stretch;  // of one of two streams

class Hierarchy {
 public:
  // `first_lines`: where each array begins; its lines reach up to the next array. A line has
  // 2^line_bits bytes. At least one cache; at least one set and way in each, together at most
  // max_lines. Only lines of the part are simulated, and counted at the links; its period divides
  // residues().
  Hierarchy(const std::vector<CacheShape>& caches, const ByArray<std::uint32_t>& first_lines,
            int line_bits, Engine engine = Engine::best, LinePart part = {});

  // Lines that differ modulo this number, a power of two, never meet in a set of any cache.
  std::uint32_t residues() const { return residues_; }

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

  // For sim/replay.hpp, which runs a piece of work once and repeats what it did.
  // Runs what waits at the innermost caches, so that their tags are complete.
  void settle(std::size_t caches);
  const LevelData& level(std::size_t l) const { return caches_[l].data; }
  // Blocks that differ modulo this number, a power of two, never meet in a set of cache l, nor in
  // one of a cache further out.
  std::uint32_t places(std::size_t l) const { return caches_[l].places; }
  std::uint32_t sets(std::size_t l) const { return caches_[l].sets; }         // of all lines
  const PhaseLines& lines(std::size_t l) const { return caches_[l].counts; }  // outside cache l
  void add_lines(std::size_t l, const PhaseLines& more);
  void add_touches(std::int64_t more) { touches_ += more; }
  // Appends requests that cache l gets from now on to the log; nullptr ends that.
  void record(std::size_t l, RequestLog* log) { caches_[l].log = log; }
  // What level l gets from the one inside it. Returns lanes of lines that came dirty from an
  // exclusive level.
  LaneMask request(std::size_t l, const Request& r);
  // Whether the innermost `levels` caches can be repeated: nothing but their own lines decides what
  // happens in them, where an inclusive level outside takes none of them away.
  bool can_repeat(std::size_t levels) const;
  // Whether one outside the innermost `levels` is inclusive, so that one has to guess that it takes
  // none away. After begin_guess() the requests of a repetition, from repeat_request(), leave the
  // inner caches as they are. end_guess() says whether no line was taken from among those that they
  // had or got; else it undoes all since begin_guess().
  // How many lines caches outside the innermost `levels` took from them so far.
  std::int64_t taken_from(std::size_t levels) const { return caches_[levels - 1].taken_inside; }
  bool has_to_guess(std::size_t levels) const { return levels <= last_inclusive_; }
  void begin_guess(std::size_t levels);
  void repeat_request(std::size_t l, const Request& r);
  bool end_guess();
  std::uint32_t width() const { return lane_max_ + 1; }
  // The rows of first_lines.
  ArrayIds arrays() const { return caches_.front().counts[Phase::compute].in.ids(); }
  // The array that the line belongs to.
  ArrayId owner(std::uint32_t line) const;

  int cache_count() const { return static_cast<int>(caches_.size()); }
  // Lines that cache l, 0 the innermost, has now.
  Lines resident(int l) const;
  // One of the counts of LinkLines, in both phases.
  Lines sum(int l, std::int64_t LinkLines::*count) const {
    const PhaseLines& p = caches_[static_cast<std::size_t>(l)].counts;
    return Lines(p[Phase::compute].*count + p[Phase::packing].*count);
  }
  bool is_exclusive(int l) const {
    return caches_[static_cast<std::size_t>(l)].inclusion == Inclusion::exclusive;
  }
  Lines touches() const { return Lines(touches_); }
  // Lines that the cache inside link l got over it, and that it wrote back over it; link l joins
  // level l to level l - 1, l in 1..cache_count().
  Lines fills(int l, Phase p, ArrayId a) const { return Lines(at(l, p).in[a]); }
  Lines write_backs(int l, Phase p, ArrayId a) const { return Lines(at(l, p).out[a]); }

 private:
  // Requests that wait, in places of their own; one without lanes is none.
  struct Place {
    static constexpr std::size_t size = 4;
    std::array<std::uint32_t, size> blocks{};
    std::array<std::uint16_t, size> lanes{};
    std::array<std::uint16_t, size> kinds{};  // Request::kind()

    Request operator[](std::size_t i) const { return Request::of(blocks[i], lanes[i], kinds[i]); }
  };
  struct Cache {
    LevelData data;
    std::uint32_t sets = 1, places = 1;  // of all lines
    Access access = nullptr;
    Inclusion inclusion = Inclusion::neither;
    bool has_feedback = false;  // from the levels outside, or to those inside
    bool is_list = true;        // lines in the order of use or coming
    Probe probe = nullptr;
    Remove remove = nullptr;
    PhaseLines counts;
    std::int64_t taken_inside = 0;  // lines that levels outside took from here and further in
    RequestLog* log = nullptr;
    // Requests that have not run yet, by block modulo their number; those that share a place have
    // no line in common modulo the unit, so that their order is free. The core's are in waiting_.
    std::vector<Place> queue;
    std::uint32_t queue_mask = 0, next = 0;
    bool queued = false;
    bool near = false, far = false;       // as this processor's own caches have the tags
    std::uint32_t asked = 0, joined = 0;  // requests of this trial, and those that found another
    std::uint32_t direct = 0;             // requests to come that do not wait
  };
  // Touches of lines in one block that have not run yet.
  struct Waiting {
    std::uint32_t block = 0;
    ArrayId array = ArrayId::A;
    LaneMask lanes = 0, dirty = 0;
  };
  // That outer caches take no line from the innermost `levels`, and what they had before.
  struct Guess {
    std::size_t levels = 0;  // 0: nothing is guessed
    bool wrong = false;
    std::uint32_t number = 0;
    std::vector<std::vector<std::uint32_t>> kept;  // by level and group, in which guess it was last
    struct Group {
      std::size_t level = 0, group = 0;
    };
    std::vector<Group> groups;
    std::vector<std::uint32_t> contents;  // tags and words of the groups
    struct Before {
      PhaseLines counts;
      std::size_t logged = 0;
      bool full = false;
    };
    std::vector<Before> before;  // by level
    // Lines that the inner caches asked for: a hash table of blocks, of the guess with this number.
    struct Asked {
      std::uint32_t block = 0, number = 0;
      LaneMask lanes = 0;
    };
    std::vector<Asked> asked;
    std::size_t asked_count = 0;
    Asked& place(std::uint32_t block);
    void add(std::uint32_t block, LaneMask lanes);
  };
  // The lines of an array, up to `end`; in the order of addresses.
  struct Owner {
    std::uint32_t end = 0;
    ArrayId array = ArrayId::A;
  };

  const LinkLines& at(int l, Phase p) const {
    return caches_[static_cast<std::size_t>(l) - 1].counts[p];
  }

  template <bool write>
  void touch(LineRun run, ArrayId array) {
    touches_ += std::int64_t{run.last} - run.first + 1;
    touch_uncounted<write>(run, array);
  }
  template <bool write>
  void touch_uncounted(LineRun run, ArrayId array) {
    const std::uint32_t last_block = run.last >> lane_bits_;
    std::uint32_t from = run.first & lane_max_;
    for (std::uint32_t block = run.first >> lane_bits_; block <= last_block; ++block) {
      const std::uint32_t past = (block - part_first_) & period_max_;
      if (past >= part_blocks_) {
        block += period_max_ - past;
        from = 0;
        continue;
      }
      const std::uint32_t to = block == last_block ? run.last & lane_max_ : lane_max_;
      const LaneMask lanes = (2u << to) - (1u << from);
      from = 0;
      Waiting& waiting = waiting_[numbers_(block) & waiting_mask_];
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
  bool may_go_first(const Stretch& first, std::uint64_t first_lines, const Stretch& second,
                    std::uint64_t second_lines, bool first_is_left) const;
  std::int64_t count_touches(std::uint64_t begin, std::uint32_t bytes, std::int64_t steps) const;
  // Whether one of the lines is simulated.
  bool meets_part(LineRun run) const {
    const std::uint32_t block = run.first >> lane_bits_;
    const std::uint32_t past = (block - part_first_) & period_max_;
    return past < part_blocks_ || (run.last >> lane_bits_) - block > period_max_ - past;
  }
  void settle(Waiting& waiting);
  void settle_queue(std::size_t l);
  void end_trial(std::size_t l);
  void run_waiting(std::size_t l, Place& place, std::size_t i);
  void run(std::size_t level, Request r, LaneMask dirty);
  // As run(), where a level's answer or what an inclusive one takes away counts.
  LaneMask fetch(std::size_t level, Request r, LaneMask dirty);
  void arrive(std::size_t level, const Request& r);
  void let_go(std::size_t level, const Missed& missed, bool packing);
  LaneMask flush_inside(std::size_t level, LaneMask lanes,
                        const std::array<Tag, max_width>& victims, bool packing);
  // Lanes of `lanes` whose lines lie in the block of the first one and belong to its array.
  LaneMask neighbours(LaneMask lanes, const std::array<Tag, max_width>& victims) const;
  void send_victims(std::size_t level, LaneMask lanes, const std::array<Tag, max_width>& victims,
                    bool packing, bool clean = false);
  bool exclusive(std::size_t l) const {
    return l < caches_.size() && caches_[l].inclusion == Inclusion::exclusive;
  }
  bool asked_at_once(std::size_t l) const {
    return exclusive(l) || (l <= last_inclusive_ && guess_.levels != last_inclusive_);
  }
  void drain_group(std::size_t level, std::size_t group, LaneMask lanes);
  void keep_for_undo(std::size_t level, std::uint32_t block);

  std::vector<Cache> caches_;
  std::vector<Owner> owners_;
  int line_bits_;
  std::uint32_t residues_ = 1;
  // The part that is simulated, in blocks; the period less one.
  std::uint32_t part_first_ = 0, part_blocks_ = 1, period_max_ = 0;
  BlockNumbers numbers_;
  std::uint32_t unit_ = 1;                      // a power of two that divides all numbers of sets
  std::uint32_t lane_bits_ = 0, lane_max_ = 0;  // log2 of the width, width - 1
  std::uint32_t waiting_mask_ = 0;
  std::vector<Waiting> waiting_;
  bool packing_ = false;  // the phase
  std::int64_t touches_ = 0;
  std::size_t last_inclusive_ = 0;  // 0: none is; the innermost never is
  Guess guess_;
};

}  // namespace tcsim::sim
