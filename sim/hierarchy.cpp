#include "sim/hierarchy.hpp"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace tcsim::sim {

namespace {

// Blocks of the core's touches that wait. More only make the simulating core's own cache miss.
// Source: chosen.
constexpr std::uint32_t max_waiting = 64;
// Places at a cache for requests that wait. Source: chosen.
constexpr std::uint32_t max_places = 256;
// Requests that wait until it is seen whether waiting is worth it, and how many do not wait if it
// is not. Source: chosen.
constexpr std::uint32_t trial = 1 << 12, trials_apart = 1 << 16;
// Bytes of tags up to which they stay in the simulating core's L1. Source: chosen.
constexpr std::size_t near_bytes = 32 << 10;
// Bytes of tags from which on a cache is too large for the simulating core's own inner caches.
// Source: chosen.
constexpr std::size_t far_bytes = 512 << 10;

// The tags will be wanted when the request runs.
void prefetch(const LevelData& data, std::uint32_t block) {
  const Tag* tags = data.tags_of(block);
  for (std::size_t i = 0; i < data.group_stride; i += 64 / sizeof(Tag)) {
    __builtin_prefetch(tags + i, 1);
  }
}

// Lanes in a mask: without the instruction, which not every processor has, std::popcount is a call.
constexpr auto byte_counts = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint8_t>(std::popcount(i));
  }
  return table;
}();
int lane_count(LaneMask lanes) { return byte_counts[lanes & 255] + byte_counts[lanes >> 8]; }

// The widest that the sets and the processor allow.
std::uint32_t width_for(std::uint32_t unit, Engine engine) {
  if (engine == Engine::best && unit % 16 == 0 && __builtin_cpu_supports("avx512f")) return 16;
  if (engine >= Engine::avx2 && unit % 8 == 0 && __builtin_cpu_supports("avx2")) return 8;
  return engine != Engine::narrow && unit % 4 == 0 ? 4 : 1;
}

Access access_for(std::uint32_t width, std::uint32_t ways) {
  if (width == 16) return access_avx512(ways);
  if (width == 8) return access_avx2(ways);
  return width == 4 ? access_sse2(ways) : access_narrow;
}
LevelOperations operations_for(std::uint32_t width, Replacement policy) {
  if (width == 16) return operations_avx512(policy);
  return width == 8 ? operations_avx2(policy) : operations_sse2(policy);
}

// One way is the same under all policies.
Replacement policy_of(const CacheShape& c) {
  return c.ways == 1 ? Replacement::lru : c.replacement;
}

}  // namespace

Hierarchy::Hierarchy(const std::vector<CacheShape>& caches,
                     const ByArray<std::uint32_t>& first_lines, int line_bits, Engine engine,
                     LinePart part)
    : line_bits_(line_bits) {
  std::int64_t common = 0;
  for (const CacheShape& c : caches) common = std::gcd(common, c.sets >> c.masks.size());
  // The largest power of two in it, so that a mask finds the place of a block.
  const auto unit = static_cast<std::uint32_t>(common & -common);
  if (part.lines == part.period) part = {0, unit, unit};
  assert(unit % part.period == 0 && part.period % part.lines == 0 && part.first % part.lines == 0);
  const std::uint32_t width = width_for(part.lines, engine);
  residues_ = unit;
  unit_ = width == 1 && part.lines == part.period ? 1 : unit;
  lane_bits_ = static_cast<std::uint32_t>(std::countr_zero(width));
  lane_max_ = width - 1;
  part_blocks_ = part.lines / width;
  if (part.lines < part.period) {
    part_first_ = part.first / width;
    period_max_ = part.period / width - 1;
    numbers_ = {static_cast<std::uint32_t>(std::countr_zero(part.period / width)),
                static_cast<std::uint32_t>(std::countr_zero(part_blocks_)), part_blocks_ - 1};
  }
  const std::uint32_t shares = part.period / part.lines;
  waiting_mask_ = width == 1 ? 0 : std::min(unit / shares / width, max_waiting) - 1;
  waiting_.resize(waiting_mask_ + 1);
  for (const CacheShape& c : caches) {
    const auto ways = static_cast<std::uint32_t>(c.ways);
    Cache cache;
    cache.data = make_level(c.sets / shares, c.ways, width);
    cache.data.numbers = numbers_;
    cache.sets = static_cast<std::uint32_t>(c.sets);
    cache.access = access_for(width, ways);
    assert(width > 1 || c.is_plain());
    cache.inclusion = c.inclusion;
    if (c.inclusion == Inclusion::inclusive) last_inclusive_ = caches_.size();
    if (!c.masks.empty()) slice(cache.data, c.masks);
    if (policy_of(c) != Replacement::lru) {
      prepare(cache.data, policy_of(c));
      cache.access = operations_for(width, policy_of(c)).access;
      cache.is_list = policy_of(c) == Replacement::fifo;
    }
    cache.near = cache.data.size() * sizeof(Tag) <= near_bytes;
    cache.far = cache.data.size() * sizeof(Tag) > far_bytes;
    const ByArray<std::int64_t> none(first_lines.size());
    cache.counts = {LinkLines{none, none}, LinkLines{none, none}};
    caches_.push_back(std::move(cache));
  }
  for (std::size_t l = 0; l < caches_.size(); ++l) {
    Cache& cache = caches_[l];
    const bool ends = cache.inclusion != Inclusion::neither || exclusive(l + 1);
    cache.has_feedback = ends || l < last_inclusive_;
    if (!cache.has_feedback) continue;
    const LevelOperations operations = operations_for(width, policy_of(caches[l]));
    cache.probe = operations.probe;
    cache.remove = operations.remove;
    if (ends) cache.access = operations.access;  // which says what leaves clean
  }
  common = 0;
  for (auto cache = caches_.rbegin(); cache != caches_.rend(); ++cache) {
    common = std::gcd(common, std::int64_t{cache->sets >> cache->data.masks.size()} / width);
    cache->places = static_cast<std::uint32_t>(common & -common);
    cache->queue_mask = width == 1 ? 0 : std::min(cache->places / shares, max_places) - 1;
    cache->queue.resize(cache->queue_mask + 1);
  }

  // Where each begins, until they are sorted.
  for (ArrayId a : first_lines.ids()) owners_.push_back({first_lines[a], a});
  std::ranges::stable_sort(owners_, {}, &Owner::end);
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    owners_[i].end = i + 1 < owners_.size() ? owners_[i + 1].end : no_lines;
  }
}

void Hierarchy::enter(Phase phase) {
  settle(caches_.size());
  packing_ = phase == Phase::packing;
}

void Hierarchy::read(const TwoStreams& streams) {
  touches_ += count_touches(streams.left, streams.left_bytes, streams.steps) +
              count_touches(streams.right, streams.right_bytes, streams.steps);
  const std::int64_t bytes = std::int64_t{streams.left_bytes} + streams.right_bytes;
  std::int64_t at_once = 1;
  // Streams of which a part is simulated rarely both have lines of it.
  const std::int64_t most = (std::int64_t{unit_} << line_bits_) / 2 * (period_max_ == 0 ? 1 : 2);
  while (2 * at_once * bytes <= most) at_once *= 2;
  for (std::int64_t step = 0; step < streams.steps; step += at_once) {
    read_steps(streams, step, std::min(at_once, streams.steps - step));
  }
}

// A stretch of one of two streams: the steps that touch its lines, counted from its first step.
struct Stretch {
  std::uint64_t begin;  // byte address
  std::uint64_t bytes;  // a step
  int line_bits;

  std::uint64_t first_line() const { return begin >> line_bits; }
  std::uint64_t first_step(std::uint64_t line) const {
    const std::uint64_t from = (first_line() + line) << line_bits;
    return from <= begin ? 0 : (from - begin) / bytes;
  }
  std::uint64_t last_step(std::uint64_t line) const {
    return (((first_line() + line + 1) << line_bits) - 1 - begin) / bytes;
  }
};

// Two stretches take turns. Whether they may run one after the other instead, `first` first: where
// two of their lines may share a set, `first` has to be done with its line before the other's
// begins. Within one step that holds if `first` is the left one, which a step begins with.
bool Hierarchy::may_go_first(const Stretch& first, std::uint64_t first_lines, const Stretch& second,
                             std::uint64_t second_lines, bool first_is_left) const {
  const std::uint64_t mask = unit_ - 1;
  const std::uint64_t ahead = (first.first_line() - second.first_line()) & mask;
  for (std::uint64_t i = 0; i < first_lines; ++i) {
    const auto line = static_cast<std::uint32_t>(first.first_line() + i);
    if (!meets_part({line, line})) continue;
    for (std::uint64_t j = (i + ahead) & mask; j < second_lines; j += unit_) {
      const std::uint64_t done = first.last_step(i), begins = second.first_step(j);
      if (done > begins || (done == begins && !first_is_left)) return false;
    }
  }
  return true;
}

// Runs whole stretches of both streams one after the other where that changes the order in no set.
// Where it does, takes half as many steps at a time.
void Hierarchy::read_steps(const TwoStreams& s, std::int64_t step, std::int64_t steps) {
  const auto stretch = [&](std::uint64_t begin, std::uint32_t bytes) {
    return Stretch{begin + static_cast<std::uint64_t>(step) * bytes, bytes, line_bits_};
  };
  const auto lines = [&](const Stretch& stretch_of) {
    const std::uint64_t to =
        stretch_of.begin + static_cast<std::uint64_t>(steps) * stretch_of.bytes - 1;
    return LineRun{static_cast<std::uint32_t>(stretch_of.begin >> line_bits_),
                   static_cast<std::uint32_t>(to >> line_bits_)};
  };
  const Stretch left_stretch = stretch(s.left, s.left_bytes);
  const Stretch right_stretch = stretch(s.right, s.right_bytes);
  const LineRun left = lines(left_stretch), right = lines(right_stretch);
  if (!meets_part(left)) {
    if (meets_part(right)) touch_uncounted<false>(right, s.right_array);
    return;
  }
  if (!meets_part(right)) return touch_uncounted<false>(left, s.left_array);
  const std::uint32_t left_lines = left.last - left.first + 1;
  const std::uint32_t right_lines = right.last - right.first + 1;
  const std::uint32_t to_right = (right.first - left.first) & (unit_ - 1);
  const std::uint32_t to_left = (left.first - right.first) & (unit_ - 1);
  const bool apart = left_lines <= to_right && right_lines <= to_left;
  if (steps == 1 || apart ||
      may_go_first(left_stretch, left_lines, right_stretch, right_lines, true)) {
    touch_uncounted<false>(left, s.left_array);
    touch_uncounted<false>(right, s.right_array);
  } else if (may_go_first(right_stretch, right_lines, left_stretch, left_lines, false)) {
    touch_uncounted<false>(right, s.right_array);
    touch_uncounted<false>(left, s.left_array);
  } else {
    const std::int64_t half = steps / 2;
    read_steps(s, step, half);
    read_steps(s, step + half, steps - half);
  }
}

// Lines of a stream, one that several steps share once for each: all steps but the first begin in a
// line that the step before touched, except where they begin with a line. Such a step comes every
// `period` steps, if at all.
std::int64_t Hierarchy::count_touches(std::uint64_t begin, std::uint32_t bytes,
                                      std::int64_t steps) const {
  const std::uint64_t end = begin + static_cast<std::uint64_t>(steps) * bytes;
  const auto lines = static_cast<std::int64_t>(((end - 1) >> line_bits_) - (begin >> line_bits_));
  const std::uint64_t line = std::uint64_t{1} << line_bits_, in_line = line - 1;
  const std::uint64_t shared = bytes & (0 - bytes);  // a power of two, as lines are
  if (shared >= line) return lines + 1 + ((begin & in_line) != 0 ? steps - 1 : 0);
  if ((begin & (shared - 1)) != 0) return lines + steps;
  const auto period = static_cast<std::int64_t>(line / shared);
  std::int64_t first = 1;  // the first step after this one that begins with a line
  while (((begin + static_cast<std::uint64_t>(first) * bytes) & in_line) != 0) {
    if (++first >= steps) return lines + steps;
  }
  return lines + steps - (steps <= first ? 0 : (steps - first - 1) / period + 1);
}

void Hierarchy::settle(Waiting& waiting) {
  if (waiting.lanes) {
    run(0,
        {waiting.block, static_cast<std::uint16_t>(waiting.lanes),
         static_cast<std::uint8_t>(index(waiting.array)), false, false, packing_},
        waiting.dirty);
  }
  waiting.lanes = waiting.dirty = 0;
}

void Hierarchy::settle(std::size_t caches) {
  for (Waiting& waiting : waiting_) settle(waiting);
  for (std::size_t l = 1; l < caches; ++l) settle_queue(l);
}

void Hierarchy::settle_queue(std::size_t l) {
  Cache& cache = caches_[l];
  if (!cache.queued) return;
  cache.queued = false;
  for (Place& place : cache.queue) {
    for (std::size_t i = 0; i < Place::size; ++i) {
      if (place.lanes[i] != 0) run_waiting(l, place, i);
    }
  }
}

// Level l > 0 is asked by the one inside it.
LaneMask Hierarchy::request(std::size_t l, const Request& r) {
  Cache& cache = caches_[l];
  if (cache.log) {
    RequestLog& log = *cache.log;
    if (log.requests.size() < log.most) {
      log.requests.push_back(r);
    } else {
      log.full = true;
    }
  }
  if (asked_at_once(l)) {
    if (!r.write_back) return fetch(l, r, 0);
    arrive(l, r);
    return 0;
  }
  if (cache.direct == 0 && ++cache.asked == trial) end_trial(l);
  if (cache.direct != 0) {
    --cache.direct;
    run(l, r, r.dirty());
    return 0;
  }
  cache.queued = true;
  Place& place = cache.queue[numbers_(r.block) & cache.queue_mask];
  const std::uint64_t fields = 0x0001000100010001;
  const auto lanes = std::bit_cast<std::uint64_t>(place.lanes);
  const __m128i blocks = _mm_loadu_si128(reinterpret_cast<const __m128i*>(place.blocks.data()));
  const __m128i same = _mm_cmpeq_epi32(blocks, _mm_set1_epi32(static_cast<int>(r.block)));
  std::size_t joined = Place::size;
  for (int of_block = _mm_movemask_ps(_mm_castsi128_ps(same)); of_block; of_block &= of_block - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(of_block)));
    if (place.lanes[i] != 0 && place.kinds[i] == r.kind()) joined = i;
  }
  if ((lanes & (fields * r.lanes)) != 0) {
    for (std::size_t i = 0; i < Place::size; ++i) {
      if (i != joined && (place.lanes[i] & r.lanes) != 0) run_waiting(l, place, i);
    }
  }
  if (joined != Place::size) {
    place.lanes[joined] |= r.lanes;
    ++cache.joined;
    return 0;
  }
  std::size_t empty = 0;
  while (empty < Place::size && place.lanes[empty] != 0) ++empty;
  if (empty == Place::size) {
    empty = cache.next++ % Place::size;
    run_waiting(l, place, empty);
  }
  place.blocks[empty] = r.block;
  place.lanes[empty] = r.lanes;
  place.kinds[empty] = r.kind();
  if (cache.far) prefetch(cache.data, r.block);
  return 0;
}

void Hierarchy::run_waiting(std::size_t l, Place& place, std::size_t i) {
  const Request r = place[i];
  run(l, r, r.dirty());
  place.lanes[i] = 0;
}

// Waiting costs as much as an access to tags that are near. Where few requests find another to
// join, the next ones do not wait.
void Hierarchy::end_trial(std::size_t l) {
  Cache& cache = caches_[l];
  if (cache.near && 2 * cache.joined < cache.asked) {
    settle_queue(l);
    cache.direct = trials_apart;
  }
  cache.asked = cache.joined = 0;
}

void Hierarchy::run(std::size_t level, Request r, LaneMask dirty) {
  Cache& cache = caches_[level];
  if (cache.has_feedback) {
    if (r.write_back) return arrive(level, r);
    fetch(level, r, dirty);
    return;
  }
  if (guess_.levels != 0) keep_for_undo(level, r.block);
  Missed missed;
  cache.access(cache.data, r.block, r.lanes, dirty, missed);
  if (!missed.lanes) return;
  LinkLines& counts = cache.counts[Phase{r.packing}];
  if (r.write_back) {
    counts.written_in += lane_count(missed.lanes);
  } else {
    counts.in[ArrayId{r.array}] += lane_count(missed.lanes);
    if (level + 1 < caches_.size()) {
      r.lanes = static_cast<std::uint16_t>(missed.lanes);
      request(level + 1, r);
    }
  }
  if (missed.dirty_victims) {
    send_victims(level, missed.dirty_victims, missed.victims, r.packing);
  }
}

void Hierarchy::add_lines(std::size_t l, const PhaseLines& more) {
  PhaseLines& counts = caches_[l].counts;
  for (Phase phase : all_phases) {
    for (ArrayId array : more[phase].in.ids()) {
      counts[phase].in[array] += more[phase].in[array];
      counts[phase].out[array] += more[phase].out[array];
    }
    for (const auto count : {&LinkLines::written_in, &LinkLines::clean_out, &LinkLines::invalidated,
                             &LinkLines::moved_in}) {
      counts[phase].*count += more[phase].*count;
    }
  }
}

LaneMask Hierarchy::neighbours(LaneMask lanes, const std::array<Tag, max_width>& victims) const {
  const auto line = [&](int lane) { return line_of(victims[static_cast<std::size_t>(lane)]); };
  const std::uint32_t first = line(std::countr_zero(lanes));
  const ArrayId array = owner(first);
  LaneMask together = 0;
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (line(lane) >> lane_bits_ != first >> lane_bits_ || owner(line(lane)) != array) continue;
    together |= LaneMask{1} << lane;
  }
  return together;
}

// Lines go from `level` to the next one; neighbours go together.
void Hierarchy::send_victims(std::size_t level, LaneMask lanes,
                             const std::array<Tag, max_width>& victims, bool packing, bool clean) {
  LinkLines& counts = caches_[level].counts[Phase{packing}];
  while (lanes) {
    const std::uint32_t first = line_of(victims[static_cast<std::size_t>(std::countr_zero(lanes))]);
    const ArrayId array = owner(first);
    const LaneMask together = neighbours(lanes, victims);
    counts.out[array] += lane_count(together);
    if (clean) counts.clean_out += lane_count(together);
    if (level + 1 < caches_.size()) {
      request(level + 1, {first >> lane_bits_, static_cast<std::uint16_t>(together),
                          static_cast<std::uint8_t>(array), true, clean, packing});
    }
    lanes &= ~together;
  }
}

// Lists have the oldest last; else lines go by way. What an inclusive level takes away meanwhile is
// written back by that.
void Hierarchy::drain_group(std::size_t level, std::size_t group, LaneMask lanes) {
  const Cache& cache = caches_[level];
  const LevelData& data = cache.data;
  for (std::uint32_t i = 0; i < data.ways; ++i) {
    const std::uint32_t way = cache.is_list ? data.ways - 1 - i : i;
    Tag* tags = data.tags.get() + group * data.group_stride + std::size_t{way} * data.width;
    LaneMask dirty = 0;
    std::array<Tag, max_width> victims{};
    for (std::uint32_t lane = 0; lane < data.width; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      victims[lane] = tags[lane];
      dirty |= (tags[lane] & dirty_bit) << lane;
      tags[lane] &= ~dirty_bit;
    }
    send_victims(level, dirty, victims, packing_);
  }
}

void Hierarchy::drain() {
  for (std::size_t l = 0; l < caches_.size(); ++l) {
    settle(l + 1);
    const LevelData& data = caches_[l].data;
    if (data.masks.empty()) {
      for (std::size_t group = 0; group < data.groups; ++group) {
        drain_group(l, group, ~LaneMask{0});
      }
      continue;
    }
    // Slice by slice; a group has sets of several.
    const std::uint32_t slices = data.groups / data.groups_in_slice;
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      for (std::size_t in_slice = 0; in_slice < data.groups_in_slice; ++in_slice) {
        for (std::uint32_t s = 0; s < slices; ++s) {
          LaneMask lanes = 0;
          for (std::uint32_t lane = 0; lane < data.width; ++lane) {
            lanes |= LaneMask{(s ^ data.lane_slices[lane]) == slice} << lane;
          }
          if (lanes != 0) drain_group(l, s * data.groups_in_slice + in_slice, lanes);
        }
      }
    }
  }
}

Lines Hierarchy::resident(int l) const {
  const LevelData& data = caches_[static_cast<std::size_t>(l)].data;
  const Tag* tags = data.tags.get();
  return Lines(std::count_if(tags, tags + data.size(), [](Tag t) { return t != no_tag; }));
}

ArrayId Hierarchy::owner(std::uint32_t line) const {
  std::size_t i = 0;
  while (line >= owners_[i].end) ++i;
  return owners_[i].array;
}

}  // namespace tcsim::sim
