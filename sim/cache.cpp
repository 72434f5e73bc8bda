#include "sim/cache.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "core/io/available_memory.hpp"
#include "sim/policy/policy.hpp"

namespace tcsim::sim {

namespace {

constexpr std::align_val_t row_alignment{64};
constexpr std::uint8_t behind_the_ways = 127;
constexpr std::uint8_t distant = 3;  // the largest prediction of RRIP and age of QLRU

bool keeps_ranks(Replacement policy) {
  return policy == Replacement::lru || policy == Replacement::fifo;
}
bool predicts(Replacement policy) {
  return policy == Replacement::srrip || policy == Replacement::brrip;
}

}  // namespace

void Cache::Free::operator()(char* rows) const { operator delete[](rows, row_alignment); }

Cache::Cache(const LevelConfig& level, std::uint64_t seed)
    : policy_(level.replacement),
      fills_by_tree_(level.empty_ways == EmptyWays::tree),
      qlru_(level.qlru),
      seed_(seed),
      sets_(static_cast<std::uint64_t>(level.sets)),
      modulo_(sets_),
      ways_(static_cast<std::uint32_t>(level.ways)),
      all_(level.ways >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << level.ways) - 1) {
  if (level.ways > most_ways) {
    large_ = make_large_cache(level, seed);
    return;
  }
  if (level.index != SetIndex{}) hash_ = std::make_unique<SetHash>(level);
  padded_ = (ways_ + 15) / 16 * 16;
  row_bytes_ = (2 * padded_ + sizeof(Masks) + ways_ * sizeof(std::uint64_t) + 63) / 64 * 64;
  require_available(static_cast<double>(row_bytes_) * static_cast<double>(sets_), "the simulation",
                    "the lines of the caches", "simulate smaller ones");
  rows_.reset(new (row_alignment) char[row_bytes_ * sets_]);
  std::memset(rows_.get(), 0, row_bytes_ * sets_);
  for (std::uint64_t set = 0; set < sets_; ++set) {
    std::uint8_t* bytes = state(row_of(set));
    for (std::size_t way = 0; way < padded_; ++way) {
      if (qlru_) {
        bytes[way] = way < ways_ ? distant : 0;
      } else if (keeps_ranks(policy_)) {
        bytes[way] = way < ways_ ? static_cast<std::uint8_t>(way) : behind_the_ways;
      } else if (predicts(policy_)) {
        bytes[way] = distant;
      }
    }
  }
  if (qlru_ || policy_ != Replacement::tree_plru) return;
  // A node is known by the first way of its right half; its bit is set if the victim is there.
  for (std::uint32_t way = 0; way < ways_; ++way) {
    Path path;
    for (std::uint32_t from = 0, to = ways_; to - from > 1;) {
      const std::uint32_t middle = from + (to - from) / 2;
      path.nodes |= std::uint64_t{1} << middle;
      if (way < middle) path.bits |= std::uint64_t{1} << middle;
      (way >= middle ? from : to) = middle;
    }
    paths_.push_back(path);
  }
}

void Cache::used_qlru(char* row, int way) {
  std::uint8_t& age = state(row)[way];
  age = age == 3 ? qlru_->from_3 : age == 2 ? qlru_->from_2 : std::uint8_t{0};
  if (!qlru_->update_on_miss_only) grow_ages(row, way);
}

void Cache::grow_ages(char* row, int but) const {
  std::uint8_t* const ages = state(row);
  const bool of_others = qlru_->update == 1, by_one = qlru_->update >= 2;
  const bool spares = qlru_->update == 1 || qlru_->update == 3;
  std::uint8_t oldest = 0;
  for (int way = 0; way < static_cast<int>(ways_); ++way) {
    if (!of_others || way != but) oldest = std::max(oldest, ages[way]);
  }
  const int by = by_one ? (oldest < distant ? 1 : 0) : distant - oldest;
  if (by == 0) return;
  for (int way = 0; way < static_cast<int>(ways_); ++way) {
    if (!spares || way != but) ages[way] = static_cast<std::uint8_t>(ages[way] + by);
  }
}

// There is one.
int Cache::empty_way(std::uint64_t taken) const {
  if (qlru_ && qlru_->replace == 2) return 63 - std::countl_zero(all_ & ~taken);
  return std::countr_one(taken);
}

void Cache::filled(char* row, std::uint64_t set, int way) {
  if (qlru_) {
    state(row)[way] = qlru_->insertion;
    if (qlru_->rare_insertion && draw(seed_, set, masks(row).word++) % Qlru::one_in == 0) {
      state(row)[way] = *qlru_->rare_insertion;
    }
    if (!qlru_->update_on_miss_only) grow_ages(row, way);
    return;
  }
  if (policy_ == Replacement::fifo) return bring_to_front(state(row), way);
  if (!predicts(policy_)) return used(row, way);
  std::uint8_t prediction = distant - 1;
  if (policy_ == Replacement::brrip && draw(seed_, set, masks(row).word++) % 32 != 0) {
    prediction = distant;
  }
  state(row)[way] = prediction;
}

int Cache::victim(char* row, std::uint64_t set) {
  const auto* const bytes = reinterpret_cast<const char*>(state(row));
  if (qlru_) {
    const std::uint64_t oldest = equal_bytes(bytes, distant) & all_;
    return oldest == 0 ? 0 : std::countr_zero(oldest);
  }
  switch (policy_) {
    case Replacement::lru:
    case Replacement::fifo:
      return std::countr_zero(equal_bytes(bytes, static_cast<std::uint8_t>(ways_ - 1)));
    case Replacement::tree_plru: {
      const std::uint64_t word = masks(row).word;
      std::uint32_t from = 0, to = ways_;
      while (to - from > 1) {
        const std::uint32_t middle = from + (to - from) / 2;
        ((word >> middle) & 1 ? from : to) = middle;
      }
      return static_cast<int>(from);
    }
    case Replacement::bit_plru:
      return std::min(std::countr_one(masks(row).word), static_cast<int>(ways_) - 1);
    case Replacement::srrip:
    case Replacement::brrip:
      while (true) {
        if (const std::uint64_t ways = equal_bytes(bytes, distant) & all_) {
          return std::countr_zero(ways);
        }
        for (std::uint32_t way = 0; way < ways_; ++way) ++state(row)[way];
      }
    case Replacement::random:
      return static_cast<int>(draw(seed_, set, masks(row).word++) % ways_);
  }
  return 0;
}

std::optional<Cache::Line> Cache::insert(Line line) {
  if (large_) return large_->insert(line);
  const std::uint64_t set = set_of(line.number);
  char* const row = row_of(set);
  Masks& m = masks(row);
  const bool chosen = m.taken == all_ || fills_by_tree_;
  if (qlru_ && qlru_->update_on_miss_only) grow_ages(row, -1);
  const int way = chosen ? victim(row, set) : empty_way(m.taken);
  const std::uint64_t bit = std::uint64_t{1} << way;
  std::optional<Line> left;
  if (m.taken & bit) {
    left = Line{numbers(row)[way], (m.dirty & bit) != 0, (m.prefetched & bit) != 0};
  }
  row[way] = static_cast<char>(byte_of(line.number));
  numbers(row)[way] = line.number;
  m.taken |= bit;
  m.dirty = line.dirty ? m.dirty | bit : m.dirty & ~bit;
  m.prefetched = line.prefetched ? m.prefetched | bit : m.prefetched & ~bit;
  filled(row, set, way);
  return left;
}

void Cache::remove(Slot slot) {
  if (large_) return large_->remove(slot);
  Masks& m = masks(row_at(slot));
  m.taken &= ~bit_of(slot);
  m.dirty &= ~bit_of(slot);
  m.prefetched &= ~bit_of(slot);
}

std::vector<Cache::Slot> Cache::dirty_slots() const {
  if (large_) return large_->dirty_slots();
  std::vector<Slot> all;
  for (std::uint64_t set = 0; set < sets_; ++set) {
    char* const row = row_of(set);
    const auto begin = static_cast<std::ptrdiff_t>(all.size());
    for (std::uint64_t dirty = masks(row).dirty; dirty != 0; dirty &= dirty - 1) {
      all.push_back(static_cast<Slot>(set << way_bits) | std::countr_zero(dirty));
    }
    if (qlru_ || !keeps_ranks(policy_)) continue;
    const std::uint8_t* const ranks = state(row);
    std::sort(all.begin() + begin, all.end(),
              [&](Slot a, Slot b) { return ranks[way_of(a)] > ranks[way_of(b)]; });
  }
  return all;
}

}  // namespace tcsim::sim
