#include "sim/hierarchy.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tcsim::sim {

namespace {

// More waiting blocks than this only make the simulating core's own cache miss.
constexpr std::uint32_t max_waiting = 64;

// Lanes in a mask: without the instruction, which not every processor has, std::popcount is a call.
constexpr auto lane_counts = [] {
  std::array<std::uint8_t, 1u << max_width> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint8_t>(std::popcount(i));
  }
  return table;
}();

// The widest that the sets and the processor allow.
std::uint32_t width_for(std::uint32_t unit, Engine engine) {
  if (engine == Engine::best && unit % 8 == 0 && __builtin_cpu_supports("avx2")) return 8;
  return engine != Engine::narrow && unit % 4 == 0 ? 4 : 1;
}

Access access_for(std::uint32_t width, std::uint32_t ways) {
  if (width == 8) return access_avx2(ways);
  return width == 4 ? access_sse2(ways) : access_narrow;
}

}  // namespace

Hierarchy::Hierarchy(const std::vector<CacheShape>& caches,
                     const std::array<std::uint32_t, array_count>& first_lines, int line_bits,
                     Engine engine)
    : line_bits_(line_bits) {
  std::int64_t common = 0;
  for (const CacheShape& c : caches) common = std::gcd(common, c.sets);
  // The largest power of two in it, so that a mask finds the place of a block.
  const auto unit = static_cast<std::uint32_t>(common & -common);
  const std::uint32_t width = width_for(unit, engine);
  unit_ = width == 1 ? 1 : unit;
  lane_bits_ = static_cast<std::uint32_t>(std::countr_zero(width));
  lane_max_ = width - 1;
  waiting_mask_ = width == 1 ? 0 : std::min(unit / width, max_waiting) - 1;
  waiting_.resize(waiting_mask_ + 1);
  for (const CacheShape& c : caches) {
    const auto ways = static_cast<std::uint32_t>(c.ways);
    caches_.push_back({make_level(c.sets, c.ways, width), access_for(width, ways), {}});
  }

  std::array<ArrayId, array_count> order = all_arrays;
  const auto first = [&](ArrayId a) { return first_lines[slot(a)]; };
  std::ranges::stable_sort(order, {}, first);
  for (std::size_t i = 0; i < order.size(); ++i) {
    owners_[i] = {i + 1 < order.size() ? first(order[i + 1]) : no_lines, order[i]};
  }
}

void Hierarchy::enter(Phase phase) {
  settle_all();
  phase_ = static_cast<std::size_t>(index(phase));
}

void Hierarchy::read(const TwoStreams& streams) {
  const std::int64_t bytes = std::int64_t{streams.left_bytes} + streams.right_bytes;
  std::int64_t at_once = 1;
  while (2 * at_once * bytes <= (std::int64_t{unit_} << line_bits_) / 2) at_once *= 2;
  for (std::int64_t step = 0; step < streams.steps; step += at_once) {
    read_steps(streams, step, std::min(at_once, streams.steps - step));
  }
}

// Whole stretches of both streams, one after the other, where their lines have no set in common;
// where they have, half as many steps at a time.
void Hierarchy::read_steps(const TwoStreams& s, std::int64_t step, std::int64_t steps) {
  const auto lines = [&](std::uint64_t begin, std::uint32_t bytes) {
    const std::uint64_t from = begin + static_cast<std::uint64_t>(step) * bytes;
    const std::uint64_t to = from + static_cast<std::uint64_t>(steps) * bytes - 1;
    return LineRun{static_cast<std::uint32_t>(from >> line_bits_),
                   static_cast<std::uint32_t>(to >> line_bits_)};
  };
  const LineRun left = lines(s.left, s.left_bytes), right = lines(s.right, s.right_bytes);
  const std::uint32_t from_left = (right.first - left.first) & (unit_ - 1);
  const std::uint32_t from_right = (left.first - right.first) & (unit_ - 1);
  const bool apart = left.last - left.first < from_left && right.last - right.first < from_right;
  if (steps > 1 && !apart) {
    const std::int64_t half = steps / 2;
    read_steps(s, step, half);
    read_steps(s, step + half, steps - half);
    return;
  }
  read(left, s.left_array);
  read(right, s.right_array);
  // A line that several steps share is touched in each of them.
  touches_ +=
      repeats(s.left, s.left_bytes, step, steps) + repeats(s.right, s.right_bytes, step, steps);
}

// Steps after the first one that begin in a line that the step before touched.
std::int64_t Hierarchy::repeats(std::uint64_t begin, std::uint32_t bytes, std::int64_t step,
                                std::int64_t steps) const {
  const std::uint64_t in_line = (std::uint64_t{1} << line_bits_) - 1;
  if (((begin | bytes) & in_line) == 0) return 0;
  std::int64_t count = 0;
  for (std::int64_t i = step + 1; i < step + steps; ++i) {
    count += ((begin + static_cast<std::uint64_t>(i) * bytes) & in_line) != 0;
  }
  return count;
}

void Hierarchy::settle(Waiting& waiting) {
  if (waiting.lanes) fetch(0, waiting.block, waiting.lanes, waiting.dirty, waiting.array);
  waiting.lanes = waiting.dirty = 0;
}

void Hierarchy::settle_all() {
  for (Waiting& waiting : waiting_) settle(waiting);
}

void Hierarchy::fetch(std::size_t level, std::uint32_t block, LaneMask lanes, LaneMask dirty,
                      ArrayId array) {
  Cache& cache = caches_[level];
  Missed missed;
  cache.access(cache.data, block, lanes, dirty, missed);
  if (!missed.lanes) return;
  cache.counts[phase_].in[slot(array)] += lane_counts[missed.lanes];
  if (level + 1 < caches_.size()) fetch(level + 1, block, missed.lanes, 0, array);
  if (missed.dirty_victims) send_victims(level, missed.dirty_victims, missed.victims);
}

void Hierarchy::write_back(std::size_t level, std::uint32_t block, LaneMask lanes) {
  Cache& cache = caches_[level];
  Missed missed;
  cache.access(cache.data, block, lanes, lanes, missed);
  if (missed.dirty_victims) send_victims(level, missed.dirty_victims, missed.victims);
}

// Dirty lines go from `level` to the next one; neighbours go together.
void Hierarchy::send_victims(std::size_t level, LaneMask lanes,
                             const std::array<Tag, max_width>& victims) {
  auto& out = caches_[level].counts[phase_].out;
  while (lanes) {
    const std::uint32_t block =
        line_of(victims[static_cast<std::size_t>(std::countr_zero(lanes))]) >> lane_bits_;
    LaneMask together = 0;
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::uint32_t line = line_of(victims[static_cast<std::size_t>(lane)]);
      if (line >> lane_bits_ != block) continue;
      ++out[slot(owner(line))];
      together |= LaneMask{1} << lane;
    }
    if (level + 1 < caches_.size()) write_back(level + 1, block, together);
    lanes &= ~together;
  }
}

void Hierarchy::drain() {
  settle_all();
  for (std::size_t l = 0; l < caches_.size(); ++l) {
    const LevelData& data = caches_[l].data;
    for (std::size_t group = 0; group < data.groups; ++group) {
      for (std::uint32_t way = data.ways; way-- > 0;) {
        Tag* tags = data.tags.get() + group * data.group_stride + std::size_t{way} * data.width;
        LaneMask dirty = 0;
        std::array<Tag, max_width> victims{};
        for (std::uint32_t lane = 0; lane < data.width; ++lane) {
          victims[lane] = tags[lane];
          dirty |= (tags[lane] & dirty_bit) << lane;
          tags[lane] &= ~dirty_bit;
        }
        send_victims(l, dirty, victims);
      }
    }
  }
}

ArrayId Hierarchy::owner(std::uint32_t line) const {
  std::size_t i = 0;
  while (line >= owners_[i].end) ++i;
  return owners_[i].array;
}

}  // namespace tcsim::sim
