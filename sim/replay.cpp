#include "sim/replay.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/tree_turns.hpp"

namespace tcsim::sim {

namespace {

// Iterations without a repetition after which a loop is left alone. Source: chosen.
constexpr int patience = 4096;
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

bool can_replay(const Plan& plan, const Hierarchy& caches, int line_bits) {
  const bool blocks_in_arrays = (caches.width() << line_bits) <= 4096;  // arrays begin at those
  return blocks_in_arrays && (plan.arena_size().value() >> line_bits) < (std::int64_t{1} << 29);
}

std::size_t Replay::Entry::bytes() const {
  return sizeof(Entry) + (before.size() + after.size() + key.size()) * sizeof(Tag) +
         requests.size() * sizeof(Request) + lines.size() * sizeof(PhaseLines);
}

Replay::Replay(const Plan& plan, Hierarchy& caches, int line_bits, Tally& tally, double worth,
               Bytes memory)
    : plan_(plan), caches_(caches), tally_(tally), line_bits_(line_bits) {
  std::int64_t lines = 0;
  for (std::size_t l = 0; l < static_cast<std::size_t>(caches.cache_count()); ++l) {
    const LevelData& level = caches.level(l);
    lines += std::int64_t{caches.sets(l)} * level.ways;
    if (!caches.can_repeat(l + 1)) continue;
    Prefix prefix;
    prefix.levels = l + 1;
    prefix.lines = lines;
    for (std::size_t i = 0; i <= l; ++i) {
      if (has_turns(caches.level(i)) && !caches.is_exclusive(static_cast<int>(i))) {
        prefix.turns += caches.level(i).word_count();
      }
    }
    prefixes_.push_back(std::move(prefix));
  }
  // Outer prefixes get less memory: they repeat less, and their contents are large.
  std::size_t room = static_cast<std::size_t>(memory.value());
  for (Prefix& prefix : prefixes_) prefix.memory = room /= 2;

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

void Replay::choose_candidates(double worth) {
  const auto& steps = plan_.steps();
  candidates_.resize(steps.size());
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
    if (once) continue;  // the same as the iteration around it
    for (std::size_t p = 0; p < prefixes_.size(); ++p) {
      if (kernels * lines_per_k < worth * static_cast<double>(prefixes_[p].lines)) continue;
      prefixes_[p].depth = depth;  // the innermost one stays
    }
  }
  for (std::size_t p = prefixes_.size(); p-- > 0;) {
    if (prefixes_[p].depth != nowhere) candidates_[prefixes_[p].depth].push_back(p);
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
  std::size_t size = 0;
  for (std::size_t l = 0; l < levels; ++l) {
    size += caches_.level(l).size() + caches_.level(l).word_count();
  }
  state.resize(size);
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
  const std::vector<std::size_t>& candidates = candidates_[iteration.depth];
  const auto given_up = [&](std::size_t p) { return prefixes_[p].misses >= patience; };
  if (std::ranges::all_of(candidates, given_up)) return false;
  caches_.settle(prefixes_[candidates.front()].levels);
  const Piece here = piece(iteration);
  bool repeated = false;
  for (std::size_t p : candidates) {
    if (given_up(p)) continue;
    Prefix& prefix = prefixes_[p];
    Entry entry;
    entry.key = here.shape;
    for (std::size_t l = 0; l < prefix.levels; ++l) {
      for (const Place& place : places_) {
        entry.key.push_back(here.bases[place.array] % caches_.sets(l));
      }
    }
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
        prefix.misses = prefix.refused = 0;
        repeated = true;
        break;
      }
      ++prefix.misses;
      continue;
    }
    ++prefix.misses;
    begin(prefix, hash, std::move(entry));
  }
  if (repeated) done(iteration.depth);  // for the larger prefixes, which did not know it
  return repeated;
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
  for (Request r : entry.requests) {
    r.block += shift[ArrayId{r.array}];
    caches_.repeat_request(prefix.levels, r);
  }
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
    prefix.log.most = prefix.memory / 4 / sizeof(Request);  // so much is not worth keeping
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
  entry.requests = prefix.log.requests;
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
  if (bytes > prefix.memory / 4) return;
  if (prefix.bytes + bytes > prefix.memory) {
    if (++prefix.refused < static_cast<std::int64_t>(2 * prefix.entries.size())) return;
    prefix.entries.clear();
    prefix.bytes = 0;
    prefix.refused = 0;
  }
  prefix.bytes += bytes;
  prefix.entries.emplace(hash, std::move(entry));
}

}  // namespace tcsim::sim
