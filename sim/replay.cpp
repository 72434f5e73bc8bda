#include "sim/replay.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "sim/tree_turns.hpp"

namespace tcsim::sim {

namespace {

// After so many iterations, at least, a loop is left alone if fewer than this share repeated
// something. Source: chosen.
constexpr std::int64_t least_trial = 1024;
constexpr std::int64_t least_repeated = 8;  // one in so many
// Iterations of a loop whose keys are counted. Source: chosen.
constexpr std::int64_t most_counted = 1 << 16;
// What is simulated by one loop has to be so much less for it to be taken in place of one further
// in. Source: chosen.
constexpr double clearly_less = 0.9;
// An entry may take this share of the memory. Source: chosen.
constexpr double most_of_memory = 0.25;
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

// Goes through the iterations of some loops without what is in them.
class KeyCounter {
 public:
  using Count = std::function<void(const Iteration&)>;
  KeyCounter(std::vector<bool> loops, Count count)
      : loops_(std::move(loops)), count_(std::move(count)) {
    while (!loops_.empty() && !loops_.back()) loops_.pop_back();
  }
  bool skips(const Iteration& iteration) {
    if (iteration.depth >= loops_.size() || !loops_[iteration.depth]) return false;
    count_(iteration);
    return iteration.depth + 1 == loops_.size();
  }
  void done(std::size_t) {}
  void pack(const PackPlan&, const Tile&) {}
  void kernel(const KernelCall&) {}

 private:
  std::vector<bool> loops_;
  Count count_;
};

// Of a loop.
struct KeyCount {
  std::int64_t iterations = 0;
  std::vector<std::set<std::vector<std::uint32_t>>> keys;  // by prefix, of the first iterations
  std::vector<std::size_t> after_half;                     // of those: how many there were then

  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> all;
    for (const auto& k : keys) all.push_back(k.size());
    return all;
  }
  // In all iterations, if new ones go on coming as in the second half of those that were counted.
  double expected(std::size_t prefix) const {
    const auto counted = static_cast<double>(keys[prefix].size());
    if (iterations <= most_counted) return counted;
    const double new_ones = counted - static_cast<double>(after_half[prefix]);
    return counted + new_ones * static_cast<double>(iterations - most_counted) / (most_counted / 2);
  }
};

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
      line_bits_(line_bits),
      memory_(static_cast<std::size_t>(memory.value())) {
  std::int64_t lines = 0;
  for (std::size_t l = 0; l < static_cast<std::size_t>(caches.cache_count()); ++l) {
    const LevelData& level = caches.level(l);
    lines += std::int64_t{caches.sets(l)} * level.ways;
    if (!caches.can_repeat(l + 1)) continue;
    Prefix prefix;
    prefix.levels = l + 1;
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

std::vector<Replay::Loop> Replay::loops() {
  const auto& steps = plan_.steps();
  std::vector<Loop> all;
  uses_.resize(steps.size());
  classes_.resize(steps.size());
  ByGroup<std::int64_t> range{};
  for (DimClass g : all_dim_classes) range[g] = plan_.extent(g);
  const double element = static_cast<double>(plan_.element().value());
  const double lines_per_k =
      static_cast<double>(plan_.mr() + plan_.nr()) * element / (1 << line_bits_);
  ByTensor<bool> packed{};
  for (std::size_t depth = 0; depth < steps.size(); ++depth) {
    const Step& step = steps[depth];
    if (step.kind == Step::Kind::move) packed[step.tensor] = true;
    if (step.kind != Step::Kind::loop) continue;
    const bool once = step.iterations(range[step.group]) == 1;
    range[step.group] = std::min(range[step.group], step.largest_tile());
    Uses& uses = uses_[depth];
    uses.packed_outside = packed;
    for (TensorId t : all_tensors) uses.in_place[t] = !packed[t];
    for (TensorId t : {TensorId::A, TensorId::B}) {
      const PackPlan* pack = plan_.pack(t);
      if (pack && range[DimClass::batch] > 1) {
        std::int64_t& phase = uses.phase_of[DimClass::batch];
        phase = std::lcm(phase, pack->places);
      }
      if (!pack || packed[t]) continue;
      const DimClass group = pack->along_rows ? pack->rows : DimClass::k;
      uses.phase_of[group] *= pack->apart * pack->strips;
    }
    double kernels = 1;
    for (DimClass g : all_dim_classes) kernels *= static_cast<double>(range[g]);
    kernels /= static_cast<double>(plan_.mr() * plan_.nr());
    if (!once) all.push_back({depth, kernels * lines_per_k});  // else as the iteration around it
  }
  return all;
}

// Of each prefix the loop that leaves least to be simulated is taken. Keys are counted beforehand:
// iterations of another key never repeat, those of a known one mostly do.
void Replay::choose_candidates(double worth) {
  const std::vector<Loop> all = loops();
  candidates_.resize(plan_.steps().size());
  const auto is_worth = [&](const Prefix& p, const Loop& l) {
    return l.lines >= worth * static_cast<double>(p.lines);
  };
  std::vector<bool> counts(plan_.steps().size());
  for (const Loop& l : all) {
    for (const Prefix& p : prefixes_) counts[l.depth] = counts[l.depth] || is_worth(p, l);
  }
  std::vector<KeyCount> seen(counts.size());
  walk(plan_, KeyCounter(counts, [&](const Iteration& iteration) {
         KeyCount& here = seen[iteration.depth];
         if (here.iterations++ >= most_counted) return;
         here.keys.resize(prefixes_.size());
         if (here.iterations == most_counted / 2) here.after_half = here.sizes();
         const Piece p = piece(iteration);
         for (std::size_t i = 0; i < prefixes_.size(); ++i) {
           here.keys[i].insert(key_of(p, prefixes_[i].levels));
         }
       }));
  std::size_t outermost = 0;
  for (std::size_t i = prefixes_.size(); i-- > 0;) {
    Prefix& p = prefixes_[i];
    double least = 1;
    for (auto l = all.rbegin(); l != all.rend() && l->depth >= outermost; ++l) {
      if (!is_worth(p, *l)) continue;
      const double keys = seen[l->depth].expected(i);
      const auto tags = static_cast<double>(state_size(p.levels));
      const double bytes = sizeof(Entry) + 2 * sizeof(Tag) * tags + bytes_a_line * l->lines;
      if (bytes > most_of_memory * static_cast<double>(memory_)) break;
      const double kept = std::min(1.0, static_cast<double>(memory_) / (keys * bytes));
      const double iterations = static_cast<double>(seen[l->depth].iterations);
      const double repeated = kept * (1 - keys / iterations);
      const double cost = 1 - repeated + touches_a_tag * tags / l->lines;
      if (repeated <= 0 || cost >= clearly_less * least) continue;
      least = cost;
      p.depth = l->depth;
      p.trial = std::max(least_trial, static_cast<std::int64_t>(2 * keys));
    }
    if (p.depth == nowhere) continue;
    outermost = p.depth;
    candidates_[p.depth].push_back(i);
  }
}

// Two ranges are of one class if the iteration reads the same of all tables, relative to the first
// entry. Two more things count: a pack within cuts its range at multiples of apart * strips, so the
// beginning modulo that; and whether k begins at 0, which the kernel asks.
std::uint32_t Replay::range_class(std::size_t depth, DimClass group, Interval range) {
  Class& c = classes_[depth][group];
  const auto [found, is_new] = c.by_range.try_emplace({range.begin, range.size}, 0u);
  if (!is_new) return found->second;
  const Uses& uses = uses_[depth];
  std::vector<std::int64_t> table{range.size, range.begin % uses.phase_of[group],
                                  group == DimClass::k && range.begin == 0};
  for (TensorId t : all_tensors) {
    const std::int64_t* offsets = plan_.offsets(t, group);
    if (!offsets || !uses.in_place[t]) continue;
    for (std::int64_t i = range.begin; i < range.begin + range.size; ++i) {
      table.push_back(offsets[i] - offsets[range.begin]);
    }
  }
  const auto number = static_cast<std::uint32_t>(c.known.size());
  return found->second = c.known.try_emplace(std::move(table), number).first->second;
}

// Where the iteration's part of an array begins. Where the array itself does, if the iteration does
// not touch it.
std::uint64_t Replay::address(ArrayId a, const Iteration& iteration) const {
  const TensorId t = plan_.arrays().tensor_of(a);
  const Uses& uses = uses_[iteration.depth];
  std::int64_t element = 0;
  if (plan_.arrays().is_buffer(a)) {
    if (uses.packed_outside[t]) {
      element = t == plan_.left() ? iteration.left_offset : iteration.right_offset;
    }
  } else if (uses.in_place[t]) {
    for (DimClass g : all_dim_classes) {
      element += plan_.offset(t, g, (*iteration.tile)[g].begin);
    }
  }
  return static_cast<std::uint64_t>(plan_.base(a).value() + element * plan_.element().value());
}

Replay::Piece Replay::piece(const Iteration& iteration) {
  Piece piece;
  piece.bases = Bases(plan_.arrays().size());
  piece.shape.push_back(static_cast<std::uint32_t>(iteration.depth));
  for (DimClass g : all_dim_classes) {
    piece.shape.push_back(range_class(iteration.depth, g, (*iteration.tile)[g]));
  }
  for (const Place& place : places_) {
    const std::uint64_t begin = address(place.array, iteration);
    piece.shape.push_back(
        static_cast<std::uint32_t>(begin & ((std::uint64_t{1} << line_bits_) - 1)));
    piece.bases[place.array] = static_cast<std::uint32_t>(begin >> line_bits_);
  }
  return piece;
}

std::vector<std::uint32_t> Replay::key_of(const Piece& piece, std::size_t levels) const {
  std::vector<std::uint32_t> key = piece.shape;
  for (std::size_t l = 0; l < levels; ++l) {
    for (const Place& place : places_) key.push_back(piece.bases[place.array] % caches_.sets(l));
  }
  return key;
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
  const Piece here = piece(iteration);
  bool repeated = false;
  for (std::size_t p : candidates) {
    Prefix& prefix = prefixes_[p];
    ++prefix.tried;
    Entry entry;
    entry.key = key_of(here, prefix.levels);
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
    prefix.log.most = memory_ / sizeof(Request) / 4;  // so much is not worth keeping
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
  const auto memory = static_cast<double>(memory_);
  if (static_cast<double>(bytes) > most_of_memory * memory) return;
  const auto fits = [&] {
    return bytes_ + bytes <= memory_ && prefix.bytes + bytes <= memory_ / 4 * 3;
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
