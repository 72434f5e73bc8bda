// Runs a piece of a plan once and repeats what it did wherever the same would happen again.
//
// A piece is one iteration of a loop. What the innermost p caches do in it depends on two things
// alone: the lines that they hold when it begins (in which order, which of them dirty), and the
// lines that it touches (in which order). It never depends on what lies further out, except where
// an inclusive level there takes a line away. Where one could, repeating guesses that it does not;
// if it does, what was repeated is undone, and the iteration simulated (Hierarchy::begin_guess()).
//
// Let every array move by a multiple of the number of sets of each of these caches, so that lines
// keep their sets. If the caches' contents and the touches of an iteration are those of an earlier
// one, moved in that way, then so is all that follows: contents at the end, counts, and the
// requests that reach the next level. So the earlier iteration's requests are repeated to the next
// level, moved, without looking at the p caches. These then get its contents at the end, moved.
// Where p is all levels, the counts are added and nothing is simulated.
//
// The check is exact: sim/iteration_keys.hpp says when touches are the same, and contents are
// compared tag by tag, relative to where the arrays of the iteration begin; a hash only says where
// to look.
//
// Every p, the largest first, is tried at one loop whose iterations touch many more lines than the
// p caches hold, so that comparing costs little where nothing ever repeats. Which one: how often an
// iteration finds the arrays where an earlier one did is known before anything is simulated. A loop
// for more caches is never inside one for fewer: a repetition there would leave the recording of
// the smaller prefix without its requests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/plan/plan.hpp"
#include "sim/compact_requests.hpp"
#include "sim/hierarchy.hpp"
#include "sim/iteration_keys.hpp"
#include "sim/plan_visitor.hpp"

namespace tcsim::sim {

// Parts of the line numbers and what tags in each gain. Part i begins at from[i], ascending; part
// `arrays` and all that follow are that of empty ways.
struct ReplayParts {
  std::size_t arrays = 0;
  std::array<std::int32_t, max_arrays + 1> from{};
  std::array<std::uint32_t, max_arrays + 1> add{};  // less that of the part before it
};

// Adds to each of `count` tags what its part of the line numbers gains.
void move_tags(const Tag* tags, std::size_t count, const ReplayParts& parts, Tag* to);

// Requests for lines of one block become one, the earliest, unless one in between may meet them in
// a set. `places`: blocks that differ modulo this number, a power of two, never do.
std::vector<Request> joined(std::span<const Request> requests, std::uint32_t places);

class Replay {
 public:
  // What is repeated is added to `tally`. Iterations that touch fewer than `worth` lines for each
  // line that the caches hold are left alone. At most `memory` bytes are kept.
  Replay(const Plan& plan, Hierarchy& caches, int line_bits, Tally& tally, double worth,
         Bytes memory);

  // As a visitor of walk() has them.
  bool skips(const Iteration& iteration);
  void done(std::size_t depth);

  // Touches that were not simulated by all levels.
  Lines repeated() const { return Lines(repeated_); }

 private:
  using Bases = ByArray<std::uint32_t>;  // first line, by array

  struct Entry {
    IterationKeys::Key key;
    Bases bases;
    std::vector<Tag> before, after;
    std::vector<std::uint32_t> turns;  // of `before` (sim/tree_turns.hpp)
    std::vector<PhaseLines> lines;     // outside each of the p caches
    std::int64_t touches = 0;
    std::int64_t taken = 0;  // lines that caches outside took: in what is kept, none
    Tally tally;
    CompactRequests requests;  // of the next level, joined
    std::size_t bytes() const;
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};
  // The innermost `levels` caches: what is known of them, and what is being learnt.
  struct Prefix {
    std::size_t levels = 0;
    std::vector<std::uint32_t> sets;  // of each of them
    std::int64_t lines = 0;           // that they hold
    std::uint32_t places = 1;         // Hierarchy::places() of the outermost of them
    std::size_t turns = 0;            // sets whose trees are turned
    std::size_t depth = nowhere;      // of the loop whose iterations are compared
    std::unordered_multimap<std::uint64_t, Entry> entries;
    std::size_t bytes = 0;  // of the entries
    // Iterations after which it is seen whether this is worth it; those that were looked at, and
    // that repeated something.
    std::int64_t trial = 0, tried = 0, repeated = 0;
    std::int64_t refused = 0;  // since then, for which there was no more room
    // The iteration that runs, if it does so for the first time, and its hash. Counts in the entry
    // are those at its beginning.
    std::optional<std::pair<std::uint64_t, Entry>> recording;
    RequestLog log;
  };

  // So much an entry may take, and the entries of one prefix leave so much to others. Source:
  // chosen.
  std::size_t largest_entry() const { return memory_ / 4; }
  void choose_candidates(double worth);
  std::size_t state_size(std::size_t levels) const;  // tags and words
  // How far the tags of each place move from where they are to relative ones, or back.
  ReplayParts parts_of(const Bases& bases, bool to_relative) const;
  void read_state(std::size_t levels, const Bases& bases, std::vector<Tag>& state) const;
  void write_state(const std::vector<Tag>& state, std::size_t levels, const Bases& bases);
  // Trees of a state are turned as those of the one before, so that states that do the same are the
  // same. f(level, its tags in the state, its words there, its turns)
  template <class F>
  void for_each_tree(std::size_t levels, Tag* state, std::uint32_t* turns, F&& f) const;
  const Entry* find(const Prefix& prefix, std::uint64_t hash, const Entry& wanted) const;
  bool gives_up(Prefix& prefix);
  bool repeat(Prefix& prefix, const Entry& entry, const Entry& here);
  void begin(Prefix& prefix, std::uint64_t hash, Entry entry);
  void end(Prefix& prefix);
  void keep(Prefix& prefix, std::uint64_t hash, Entry entry);
  void forget(Prefix& prefix);

  const Plan& plan_;
  Hierarchy& caches_;
  Tally& tally_;
  IterationKeys keys_;
  std::size_t memory_, bytes_ = 0;  // of all entries: to be had, and taken
  std::int64_t repeated_ = 0;
  std::vector<Prefix> prefixes_;
  std::vector<Tag> turned_;  // a state that is being written
  std::vector<std::uint32_t> turns_;
  std::vector<std::vector<std::size_t>> candidates_;  // prefixes by depth, the largest first
  // Arrays in the order of addresses, for moving tags: where each begins among the lines, and where
  // among lines relative to bases. Arrays overlap in neither.
  struct Place {
    ArrayId array = ArrayId::A;
    std::uint32_t first = 0, relative = 0, size = 0;
  };
  std::vector<Place> places_;
};

// Whether Replay can be used: its relative line numbers have to fit.
bool can_replay(const Plan& plan, const Hierarchy& caches, int line_bits);

}  // namespace tcsim::sim
