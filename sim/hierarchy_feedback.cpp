// Levels that take lines away from those inside them, or give lines back: what a cache inside does
// waits for their answer. And repetitions of inner caches that guess what the answer is.
#include <algorithm>
#include <bit>

#include "sim/hierarchy.hpp"

namespace tcsim::sim {

// First what comes from outside, which may take lines away here; then the cache itself.
LaneMask Hierarchy::fetch(std::size_t level, Request r, LaneMask dirty) {
  Cache& cache = caches_[level];
  LinkLines& counts = cache.counts[Phase{r.packing}];
  if (guess_.levels != 0) keep_for_undo(level, r.block);
  const LaneMask lanes = r.lanes, found = cache.probe(cache.data, r.block, lanes).lanes;
  const LaneMask missing = lanes & ~found;
  LaneMask came_dirty = 0;
  if (cache.inclusion == Inclusion::exclusive && found != 0) {
    came_dirty = cache.remove(cache.data, r.block, found, true).dirty;
    counts.moved_in += std::popcount(found);
  }
  if (missing != 0) {
    counts.in[ArrayId{r.array}] += std::popcount(missing);
    if (level + 1 < caches_.size()) {
      r.lanes = static_cast<std::uint16_t>(missing);
      came_dirty |= request(level + 1, r);
    }
  }
  if (cache.inclusion == Inclusion::exclusive) return came_dirty;
  Missed missed;
  cache.access(cache.data, r.block, lanes, dirty | came_dirty, missed);
  if (missed.lanes != 0) let_go(level, missed, r.packing);
  return 0;
}

void Hierarchy::arrive(std::size_t level, const Request& r) {
  Cache& cache = caches_[level];
  if (guess_.levels != 0) keep_for_undo(level, r.block);
  Missed missed;
  cache.access(cache.data, r.block, r.lanes, r.dirty(), missed);
  if (missed.lanes == 0) return;
  cache.counts[Phase{r.packing}].written_in += std::popcount(missed.lanes);
  let_go(level, missed, r.packing);
}

void Hierarchy::let_go(std::size_t level, const Missed& missed, bool packing) {
  LaneMask dirty = missed.dirty_victims;
  if (caches_[level].inclusion == Inclusion::inclusive && missed.victims_any != 0) {
    dirty |= flush_inside(level, missed.victims_any, missed.victims, packing);
  }
  if (dirty != 0) send_victims(level, dirty, missed.victims, packing);
  if (!exclusive(level + 1)) return;
  const LaneMask clean = missed.victims_any & ~dirty;
  if (clean != 0) send_victims(level, clean, missed.victims, packing, true);
}

// Lines leave the caches inside this level, from the innermost outward; those that were dirty in
// one of them. They cross each link from there on.
LaneMask Hierarchy::flush_inside(std::size_t level, LaneMask lanes,
                                 const std::array<Tag, max_width>& victims, bool packing) {
  LaneMask all_dirty = 0;
  while (lanes != 0) {
    const std::uint32_t first = line_of(victims[static_cast<std::size_t>(std::countr_zero(lanes))]);
    const std::uint32_t block = first >> lane_bits_;
    const ArrayId array = owner(first);
    const LaneMask together = neighbours(lanes, victims);
    lanes &= ~together;
    LaneMask dirty = 0;
    for (std::size_t l = 0; l < level; ++l) {
      Cache& inner = caches_[l];
      if (l < guess_.levels) {
        guess_.wrong |= inner.probe(inner.data, block, together).lanes != 0;
        continue;
      }
      if (guess_.levels != 0) keep_for_undo(l, block);
      LinkLines& counts = inner.counts[Phase{packing}];
      const Found gone = inner.remove(inner.data, block, together, false);
      counts.invalidated += std::popcount(gone.lanes);
      for (std::size_t i = l; i < level; ++i) {
        caches_[i].taken_inside += std::popcount(gone.lanes);
      }
      dirty |= gone.dirty;
      counts.out[array] += std::popcount(dirty);
    }
    if (guess_.levels != 0) {
      const Guess::Asked& asked = guess_.place(block);
      guess_.wrong |= asked.number == guess_.number && (asked.lanes & together) != 0;
    }
    all_dirty |= dirty;
  }
  return all_dirty;
}

bool Hierarchy::can_repeat(std::size_t levels) const {
  const auto is_sliced = [](const Cache& c) { return !c.data.masks.empty(); };
  const auto end = caches_.begin() + static_cast<std::ptrdiff_t>(levels);
  return !exclusive(levels) && std::none_of(caches_.begin(), end, is_sliced);
}

auto Hierarchy::Guess::place(std::uint32_t block) -> Asked& {
  const std::size_t mask = asked.size() - 1;
  std::size_t i = (block * 0x9E3779B97F4A7C15) >> 40 & mask;
  while (asked[i].number == number && asked[i].block != block) i = (i + 1) & mask;
  return asked[i];
}

void Hierarchy::Guess::add(std::uint32_t block, LaneMask lanes) {
  if (4 * asked_count >= asked.size()) {
    std::vector<Asked> old(4 * asked.size());
    std::swap(old, asked);
    for (const Asked& a : old) {
      if (a.number == number) place(a.block) = a;
    }
  }
  Asked& here = place(block);
  if (here.number != number) {
    here = {block, number, 0};
    ++asked_count;
  }
  here.lanes |= lanes;
}

void Hierarchy::begin_guess(std::size_t levels) {
  settle(caches_.size());
  if (guess_.kept.empty()) {
    for (const Cache& c : caches_) guess_.kept.emplace_back(c.data.groups);
    guess_.asked.resize(1 << 10);
  }
  guess_.levels = levels;
  guess_.wrong = false;
  ++guess_.number;
  guess_.asked_count = 0;
  guess_.groups.clear();
  guess_.contents.clear();
  guess_.before.clear();
  for (const Cache& c : caches_) {
    guess_.before.push_back(
        {c.counts, c.log ? c.log->requests.size() : 0, c.log != nullptr && c.log->full});
  }
}

void Hierarchy::repeat_request(std::size_t l, const Request& r) {
  if (guess_.levels != 0) {
    if (guess_.wrong) return;
    if (!r.write_back) guess_.add(r.block, r.lanes);
  }
  request(l, r);
}

void Hierarchy::keep_for_undo(std::size_t level, std::uint32_t block) {
  const LevelData& data = caches_[level].data;
  const std::uint32_t group = data.group_of(block);
  std::uint32_t& kept = guess_.kept[level][group];
  if (kept == guess_.number) return;
  kept = guess_.number;
  guess_.groups.push_back({level, group});
  const Tag* const tags = data.tags.get() + group * data.group_stride;
  guess_.contents.insert(guess_.contents.end(), tags, tags + data.group_stride);
  if (!data.words) return;
  const std::uint32_t* const words = data.words.get() + std::size_t{group} * data.width;
  guess_.contents.insert(guess_.contents.end(), words, words + data.width);
}

bool Hierarchy::end_guess() {
  settle(caches_.size());
  guess_.levels = 0;
  if (!guess_.wrong) return true;
  const std::uint32_t* from = guess_.contents.data();
  for (const Guess::Group& g : guess_.groups) {
    const LevelData& data = caches_[g.level].data;
    std::copy_n(from, data.group_stride, data.tags.get() + g.group * data.group_stride);
    from += data.group_stride;
    if (!data.words) continue;
    std::copy_n(from, data.width, data.words.get() + g.group * data.width);
    from += data.width;
  }
  for (std::size_t l = 0; l < caches_.size(); ++l) {
    Cache& cache = caches_[l];
    Guess::Before& before = guess_.before[l];
    cache.counts = std::move(before.counts);
    if (!cache.log) continue;
    cache.log->requests.resize(before.logged);
    cache.log->full = before.full;
  }
  return false;
}

}  // namespace tcsim::sim
