#include "sim/replay.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>

#include "sim/tree_turns.hpp"

namespace tcsim::sim {

namespace {

// After so many iterations, at least, a loop is left alone if fewer than this share repeated
// something. Source: chosen.
constexpr std::int64_t least_trial = 1024;
constexpr std::int64_t least_repeated = 8;  // one in so many
// What is simulated by one loop has to be so much less for it to be taken in place of one further
// in. Source: chosen.
constexpr double clearly_less = 0.9;
// Comparing contents takes so many touches' time a tag. Source: measured, some 5 and 17 ns.
constexpr double touches_a_tag = 0.3;
// What the requests of an iteration take in memory, bytes for each line that it touches. Source:
// measured, 0.1 to 0.4 for the largest of TCCG.
constexpr double bytes_a_line = 0.3;
// Tags that go into a hash. Source: chosen.
constexpr std::size_t most_samples = 512;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(const std::vector<std::uint32_t>& key, const std::vector<Tag>& state) {
  std::uint64_t hash = 1;
  for (std::uint32_t k : key) hash = mixed(hash, k);
  const std::size_t step = std::max<std::size_t>(1, state.size() / most_samples);
  // Four at a time, since each waits for the multiplication before it.
  std::array<std::uint64_t, 4> parts{1, 2, 3, 4};
  std::size_t i = 0;
  for (; i + 3 * step < state.size(); i += 4 * step) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p] = mixed(parts[p], state[i + p * step]);
    }
  }
  for (; i < state.size(); i += step) hash = mixed(hash, state[i]);
  for (const std::uint64_t p : parts) hash = mixed(hash, p);
  return hash;
}

// move_tags() of so many arrays. It has no branches, so that it becomes vector instructions.
template <std::size_t arrays>
void move_tags_of(const Tag* tags, std::size_t count, const ReplayParts& parts, Tag* to) {
  const ReplayParts p = parts;
  for (std::size_t i = 0; i < count; ++i) {
    const auto line = static_cast<std::int32_t>(tags[i] >> 1);
    std::uint32_t add = 0;
    for (std::size_t j = 0; j <= arrays; ++j) add += line >= p.from[j] ? p.add[j] : 0;
    to[i] = tags[i] + add;
  }
}

Tally operator-(Tally a, const Tally& b) {
  for (Phase p : all_phases) {
    for (ArrayId i : b.registers.arrays.ids()) {
      a.registers.moved[p][i].in -= b.registers.moved[p][i].in;
      a.registers.moved[p][i].out -= b.registers.moved[p][i].out;
    }
  }
  a.multiply_adds -= b.multiply_adds;
  return a;
}

Tally& operator+=(Tally& a, const Tally& b) {
  for (Phase p : all_phases) {
    for (ArrayId i : b.registers.arrays.ids()) a.registers.moved[p][i] += b.registers.moved[p][i];
  }
  a.multiply_adds += b.multiply_adds;
  return a;
}

PhaseLines operator-(PhaseLines a, const PhaseLines& b) {
  for (Phase p : all_phases) {
    for (ArrayId i : b[p].in.ids()) {
      a[p].in[i] -= b[p].in[i];
      a[p].out[i] -= b[p].out[i];
    }
    for (const auto count : {&LinkLines::written_in, &LinkLines::clean_out, &LinkLines::invalidated,
                             &LinkLines::moved_in}) {
      a[p].*count -= b[p].*count;
    }
  }
  return a;
}

// Whether an inclusive level took lines from one of these caches, and left ways empty.
bool lost_lines(const std::vector<PhaseLines>& lines) {
  return std::ranges::any_of(lines, [](const PhaseLines& l) {
    return l[Phase::compute].invalidated + l[Phase::packing].invalidated != 0;
  });
}

}  // namespace

// Three tensors and what is packed of two of them are what most schedules have.
void move_tags(const Tag* tags, std::size_t count, const ReplayParts& parts, Tag* to) {
  switch (parts.arrays) {
    case 3:
      return move_tags_of<3>(tags, count, parts, to);
    case 4:
      return move_tags_of<4>(tags, count, parts, to);
    case 5:
      return move_tags_of<5>(tags, count, parts, to);
    default:
      return move_tags_of<max_arrays>(tags, count, parts, to);
  }
}

std::vector<Request> joined(std::span<const Request> requests, std::uint32_t places) {
  constexpr std::size_t none = ~std::size_t{0};
  constexpr int patient = 16;  // requests of a place that are looked at. Source: chosen.
  std::vector<Request> all;
  std::vector<std::size_t> latest(places, none), before;  // of a place; the one before each
  for (const Request& r : requests) {
    std::size_t& last = latest[r.block & (places - 1)];
    std::size_t at = last;
    for (int i = 0; at != none && !all[at].may_join(r); at = before[at]) {
      if ((all[at].lanes & r.lanes) != 0 || ++i == patient) {
        at = none;
        break;
      }
    }
    if (at != none) {
      all[at].lanes |= r.lanes;
      continue;
    }
    before.push_back(std::exchange(last, all.size()));
    all.push_back(r);
  }
  return all;
}

bool can_replay(const Plan& plan, const Hierarchy& caches, int line_bits) {
  const bool blocks_in_arrays = (caches.width() << line_bits) <= 4096;  // arrays begin at those
  return blocks_in_arrays && (plan.arena_size().value() >> line_bits) < (std::int64_t{1} << 29);
}

std::size_t Replay::Entry::bytes() const {
  return sizeof(Entry) + (before.size() + after.size() + key.size()) * sizeof(Tag) +
         requests.bytes() + lines.size() * sizeof(PhaseLines);
}

Replay::Replay(const Plan& plan, Hierarchy& caches, int line_bits, Tally& tally, double worth,
               Bytes memory)
    : plan_(plan),
      caches_(caches),
      tally_(tally),
      keys_(plan, line_bits),
      memory_(static_cast<std::size_t>(memory.value())) {
  std::int64_t lines = 0;
  for (std::size_t l = 0; l < static_cast<std::size_t>(caches.cache_count()); ++l) {
    const LevelData& level = caches.level(l);
    lines += std::int64_t{caches.sets(l)} * level.ways;
    if (!caches.can_repeat(l + 1)) continue;
    Prefix prefix;
    prefix.levels = l + 1;
    for (std::size_t i = 0; i <= l; ++i) prefix.sets.push_back(caches.sets(i));
    prefix.places = caches.places(l);
    prefix.lines = lines;
    for (std::size_t i = 0; i <= l; ++i) {
      if (has_turns(caches.level(i)) && !caches.is_exclusive(static_cast<int>(i))) {
        prefix.turns += caches.level(i).word_count();
      }
    }
    prefixes_.push_back(std::move(prefix));
  }
  for (ArrayId a : plan.arrays().ids()) {
    const auto first = static_cast<std::uint32_t>(plan.base(a).value() >> line_bits);
    places_.push_back({a, first, 0, 0});
  }
  std::ranges::sort(places_, {}, &Place::first);
  std::uint32_t relative = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto end = i + 1 < places_.size()
                         ? places_[i + 1].first
                         : static_cast<std::uint32_t>(plan.arena_size().value() >> line_bits) + 1;
    places_[i].size = end - places_[i].first;
    places_[i].relative = relative;
    relative += 2 * places_[i].size;
  }
  choose_candidates(worth);
}

// Of each prefix the loop that leaves least to be simulated is taken: iterations of another key
// never repeat, those of a known one mostly do. What there is no memory for counts as simulated.
void Replay::choose_candidates(double worth) {
  std::vector<IterationKeys::Wanted> loops;
  for (const IterationKeys::Loop& l : keys_.loops()) {
    IterationKeys::Wanted wanted{l, {}};
    for (const Prefix& p : prefixes_) {
      if (l.lines >= worth * static_cast<double>(p.lines)) wanted.sets.push_back(p.sets);
    }
    if (!wanted.sets.empty()) loops.push_back(std::move(wanted));
  }
  const std::vector<std::vector<double>> counts = keys_.count(loops);
  candidates_.resize(plan_.steps().size());
  std::size_t outermost = 0;
  for (std::size_t i = prefixes_.size(); i-- > 0;) {
    Prefix& p = prefixes_[i];
    const auto tags = static_cast<double>(state_size(p.levels));
    double least = 1;
    for (std::size_t l = loops.size(); l-- > 0 && loops[l].loop.depth >= outermost;) {
      const IterationKeys::Loop& loop = loops[l].loop;
      if (counts[l].size() <= i) continue;  // touches too few lines
      const double bytes = sizeof(Entry) + 2 * sizeof(Tag) * tags + bytes_a_line * loop.lines;
      if (bytes > static_cast<double>(largest_entry())) break;
      const double keys = counts[l][i];
      const double kept = std::min(1.0, static_cast<double>(memory_) / (keys * bytes));
      const double repeated = kept * (1 - keys / loop.iterations);
      const double cost = 1 - repeated + touches_a_tag * tags / loop.lines;
      if (repeated <= 0 || cost >= clearly_less * least) continue;
      least = cost;
      p.depth = loop.depth;
      p.trial = std::max(least_trial, static_cast<std::int64_t>(2 * keys));
    }
    if (p.depth == nowhere) continue;
    outermost = p.depth;
    candidates_[p.depth].push_back(i);
  }
}

std::size_t Replay::state_size(std::size_t levels) const {
  std::size_t size = 0;
  for (std::size_t l = 0; l < levels; ++l) {
    size += caches_.level(l).size() + caches_.level(l).word_count();
  }
  return size;
}

ReplayParts Replay::parts_of(const Bases& bases, bool to_relative) const {
  ReplayParts parts;
  parts.arrays = places_.size();
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < parts.from.size(); ++i) {
    std::uint32_t add = 0;
    parts.from[i] = std::numeric_limits<std::int32_t>::max();
    if (i < places_.size()) {
      const Place& p = places_[i];
      const std::uint32_t moved = p.relative + p.size - bases[p.array];
      parts.from[i] = static_cast<std::int32_t>(to_relative ? p.first : p.relative);
      add = 2 * (to_relative ? moved : 0 - moved);
    }
    parts.add[i] = add - before;
    before = add;
  }
  return parts;
}

// Contents of the innermost caches relative to the bases. How far a tag moves depends on its array;
// lines of different arrays stay different.
void Replay::read_state(std::size_t levels, const Bases& bases, std::vector<Tag>& state) const {
  const ReplayParts parts = parts_of(bases, true);
  state.resize(state_size(levels));
  Tag* to = state.data();
  for (std::size_t l = 0; l < levels; ++l) {
    move_tags(caches_.level(l).tags.get(), caches_.level(l).size(), parts, to);
    to += caches_.level(l).size();
    to = std::copy_n(caches_.level(l).words.get(), caches_.level(l).word_count(), to);
  }
}

void Replay::write_state(const std::vector<Tag>& state, std::size_t levels, const Bases& bases) {
  const ReplayParts parts = parts_of(bases, false);
  const Tag* from = state.data();
  for (std::size_t l = 0; l < levels; ++l) {
    move_tags(from, caches_.level(l).size(), parts, caches_.level(l).tags.get());
    from += caches_.level(l).size();
    const std::size_t words = caches_.level(l).word_count();
    std::copy_n(from, words, caches_.level(l).words.get());
    from += words;
  }
}

// An exclusive level has empty ways now and then.
template <class F>
void Replay::for_each_tree(std::size_t levels, Tag* state, std::uint32_t* turns, F&& f) const {
  for (std::size_t l = 0; l < levels; ++l) {
    const LevelData& level = caches_.level(l);
    std::uint32_t* const words = state + level.size();
    if (has_turns(level) && !caches_.is_exclusive(static_cast<int>(l))) {
      f(level, state, words, turns);
      turns += level.word_count();
    }
    state = words + level.word_count();
  }
}

const Replay::Entry* Replay::find(const Prefix& prefix, std::uint64_t hash,
                                  const Entry& wanted) const {
  const auto [from, to] = prefix.entries.equal_range(hash);
  for (auto i = from; i != to; ++i) {
    if (i->second.key == wanted.key && i->second.before == wanted.before) return &i->second;
  }
  return nullptr;
}

bool Replay::skips(const Iteration& iteration) {
  std::vector<std::size_t>& candidates = candidates_[iteration.depth];
  std::erase_if(candidates, [&](std::size_t p) { return gives_up(prefixes_[p]); });
  if (candidates.empty()) return false;
  caches_.settle(prefixes_[candidates.front()].levels);
  const IterationKeys::Piece here = keys_.piece(iteration);
  bool repeated = false;
  for (std::size_t p : candidates) {
    Prefix& prefix = prefixes_[p];
    ++prefix.tried;
    Entry entry;
    entry.key = keys_.key(here, prefix.sets);
    entry.bases = here.bases;
    read_state(prefix.levels, here.bases, entry.before);
    entry.turns.resize(prefix.turns);
    for_each_tree(prefix.levels, entry.before.data(), entry.turns.data(), [](auto&&... tree) {
      find_turns(tree...);
      turn(tree...);
    });
    const std::uint64_t hash = hash_of(entry.key, entry.before);
    if (const Entry* known = find(prefix, hash, entry)) {
      if (repeat(prefix, *known, entry)) {
        ++prefix.repeated;
        prefix.refused = 0;
        repeated = true;
        break;
      }
      continue;
    }
    begin(prefix, hash, std::move(entry));
  }
  if (repeated) done(iteration.depth);  // for the larger prefixes, which did not know it
  return repeated;
}

bool Replay::gives_up(Prefix& prefix) {
  if (prefix.tried < prefix.trial) return false;
  const bool is_worth = prefix.repeated * least_repeated >= prefix.tried;
  prefix.tried = prefix.repeated = 0;
  if (!is_worth) forget(prefix);
  return !is_worth;
}

bool Replay::repeat(Prefix& prefix, const Entry& entry, const Entry& here) {
  const Bases& bases = here.bases;
  const bool guesses = caches_.has_to_guess(prefix.levels);
  if (guesses) caches_.begin_guess(prefix.levels);
  ByArray<std::uint32_t> shift(bases.size());
  // A multiple of the width, also where it is negative and wraps around.
  const auto width = static_cast<std::int32_t>(caches_.width());
  for (ArrayId a : shift.ids()) {
    const auto lines = static_cast<std::int32_t>(bases[a] - entry.bases[a]);
    shift[a] = static_cast<std::uint32_t>(lines / width);
  }
  entry.requests.for_each([&](Request r) {
    r.block += shift[ArrayId{r.array}];
    caches_.repeat_request(prefix.levels, r);
  });
  if (guesses && !caches_.end_guess()) return false;
  for (std::size_t l = 0; l < prefix.levels; ++l) caches_.add_lines(l, entry.lines[l]);
  caches_.add_touches(entry.touches);
  repeated_ += entry.touches;
  tally_ += entry.tally;
  if (prefix.turns == 0) {
    write_state(entry.after, prefix.levels, bases);
    return true;
  }
  turned_ = entry.after;
  turns_ = here.turns;
  for_each_tree(prefix.levels, turned_.data(), turns_.data(),
                [](auto&&... tree) { turn_back(tree...); });
  write_state(turned_, prefix.levels, bases);
  return true;
}

void Replay::begin(Prefix& prefix, std::uint64_t hash, Entry entry) {
  for (std::size_t l = 0; l < prefix.levels; ++l) entry.lines.push_back(caches_.lines(l));
  entry.touches = caches_.touches().value();
  entry.taken = caches_.taken_from(prefix.levels);
  entry.tally = tally_;
  if (prefix.levels < static_cast<std::size_t>(caches_.cache_count())) {
    prefix.log.requests.clear();
    prefix.log.most = memory_ / sizeof(Request) / 16;  // so much is not worth keeping
    prefix.log.full = false;
    caches_.record(prefix.levels, &prefix.log);
  }
  prefix.recording = {hash, std::move(entry)};
}

void Replay::done(std::size_t depth) {
  for (Prefix& prefix : prefixes_) {
    if (prefix.recording && prefix.depth == depth) end(prefix);
  }
}

void Replay::end(Prefix& prefix) {
  caches_.settle(prefix.levels);
  auto [hash, entry] = *std::exchange(prefix.recording, {});
  if (prefix.levels < static_cast<std::size_t>(caches_.cache_count())) {
    caches_.record(prefix.levels, nullptr);
  }
  if (prefix.log.full) return;
  for (std::size_t l = 0; l < prefix.levels; ++l) {
    entry.lines[l] = caches_.lines(l) - entry.lines[l];
  }
  // What one of these caches takes from another it will take again.
  if (caches_.taken_from(prefix.levels) != entry.taken) return;
  if (prefix.turns != 0 && lost_lines(entry.lines)) return;
  entry.taken = 0;
  entry.touches = caches_.touches().value() - entry.touches;
  entry.tally = tally_ - entry.tally;
  const auto lane_bits = static_cast<std::uint32_t>(std::countr_zero(caches_.width()));
  entry.requests = {joined(prefix.log.requests, prefix.places), lane_bits};
  read_state(prefix.levels, entry.bases, entry.after);
  for_each_tree(prefix.levels, entry.after.data(), entry.turns.data(),
                [](auto&&... tree) { turn(tree...); });
  entry.turns = {};
  keep(prefix, hash, std::move(entry));
}

// When the room is used up the old entries stay, since work that goes in circles comes back to
// them. If it does not for a while, they make way.
void Replay::keep(Prefix& prefix, std::uint64_t hash, Entry entry) {
  const std::size_t bytes = entry.bytes();
  if (bytes > largest_entry()) return;
  const auto fits = [&] {
    return bytes_ + bytes <= memory_ && prefix.bytes + bytes <= memory_ - largest_entry();
  };
  if (!fits()) {
    if (++prefix.refused < static_cast<std::int64_t>(2 * prefix.entries.size())) return;
    forget(prefix);
    if (!fits()) return;
  }
  prefix.bytes += bytes;
  bytes_ += bytes;
  prefix.entries.emplace(hash, std::move(entry));
}

void Replay::forget(Prefix& prefix) {
  prefix.entries.clear();
  bytes_ -= std::exchange(prefix.bytes, 0);
  prefix.refused = 0;
}

}  // namespace tcsim::sim
