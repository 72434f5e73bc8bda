#include "sim/large_cache.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "core/io/available_memory.hpp"
#include "sim/policy/bit_plru.hpp"
#include "sim/policy/fifo.hpp"
#include "sim/policy/lru.hpp"
#include "sim/policy/random.hpp"
#include "sim/policy/rrip.hpp"
#include "sim/policy/tree_plru.hpp"
#include "sim/set_hash.hpp"

namespace tcsim::sim {

namespace {

template <class Policy>
class LargeCacheOf final : public LargeCache {
 public:
  LargeCacheOf(const LevelConfig& level, std::uint64_t seed)
      : sets_(level.sets),
        ways_(static_cast<std::uint32_t>(level.ways)),
        hash_(level),
        policy_(sets_, ways_, seed),
        lines_(static_cast<std::size_t>(sets_) * ways_),
        taken_(lines_.size()),
        first_empty_(static_cast<std::size_t>(sets_)) {}

  Slot find(std::uint64_t line) const override {
    const auto found = table_.find(line);
    return found == table_.end() ? absent : found->second;
  }

  Line& at(Slot slot) override { return lines_[index(slot)]; }

  void use(Slot slot) override { policy_.used(slot / ways_, way_of(slot)); }

  std::optional<Line> insert(Line line) override {
    const std::int64_t set = set_of(line.number);
    std::uint32_t& empty = first_empty_[static_cast<std::size_t>(set)];
    while (empty < ways_ && taken_[place(set, ways_, empty)]) ++empty;
    const std::uint32_t way = empty < ways_ ? empty : policy_.victim(set);
    const std::size_t here = place(set, ways_, way);
    std::optional<Line> victim;
    if (taken_[here]) {
      victim = lines_[here];
      table_.erase(victim->number);
    }
    lines_[here] = line;
    taken_[here] = 1;
    table_[line.number] = static_cast<Slot>(here);
    policy_.filled(set, way);
    return victim;
  }

  void remove(Slot slot) override {
    const std::int64_t set = slot / ways_;
    const std::uint32_t way = way_of(slot);
    taken_[index(slot)] = 0;
    table_.erase(lines_[index(slot)].number);
    lines_[index(slot)] = {};
    std::uint32_t& empty = first_empty_[static_cast<std::size_t>(set)];
    empty = std::min(empty, way);
    policy_.emptied(set, way);
  }

  std::vector<Slot> dirty_slots() const override {
    std::vector<Slot> all;
    for (std::int64_t set = 0; set < sets_; ++set) {
      const auto begin = static_cast<std::ptrdiff_t>(all.size());
      for (std::uint32_t way = 0; way < ways_; ++way) {
        const std::size_t here = place(set, ways_, way);
        if (taken_[here] && lines_[here].dirty) all.push_back(static_cast<Slot>(here));
      }
      if (std::ptrdiff_t(all.size()) - begin < 2) continue;
      std::vector<std::pair<std::uint64_t, Slot>> aged;
      for (auto s = all.begin() + begin; s != all.end(); ++s) {
        aged.emplace_back(policy_.age(set, way_of(*s)), *s);
      }
      std::ranges::sort(aged);
      std::ranges::transform(aged, all.begin() + begin, [](const auto& a) { return a.second; });
    }
    return all;
  }

 private:
  static std::size_t index(Slot slot) { return static_cast<std::size_t>(slot); }
  std::int64_t set_of(std::uint64_t line) const {
    return static_cast<std::int64_t>(hash_.set_of(line));
  }
  std::uint32_t way_of(Slot slot) const { return static_cast<std::uint32_t>(slot % ways_); }

  std::int64_t sets_;
  std::uint32_t ways_;
  SetHash hash_;
  Policy policy_;
  std::vector<Line> lines_;
  std::vector<std::uint8_t> taken_;
  std::vector<std::uint32_t> first_empty_;  // of a set: no way below it is empty
  std::unordered_map<std::uint64_t, Slot> table_;
};

}  // namespace

std::unique_ptr<LargeCache> make_large_cache(const LevelConfig& level, std::uint64_t seed) {
  // Its tables of lines; what finds a line grows with what is in the cache.
  require_available(16.0 * static_cast<double>(level.sets) * static_cast<double>(level.ways),
                    "the simulation", "the lines of the caches", "simulate smaller ones");
  switch (level.replacement) {
    case Replacement::lru:
      return std::make_unique<LargeCacheOf<Lru>>(level, seed);
    case Replacement::fifo:
      return std::make_unique<LargeCacheOf<Fifo>>(level, seed);
    case Replacement::random:
      return std::make_unique<LargeCacheOf<RandomChoice>>(level, seed);
    case Replacement::tree_plru:
      return std::make_unique<LargeCacheOf<TreePlru>>(level, seed);
    case Replacement::bit_plru:
      return std::make_unique<LargeCacheOf<BitPlru>>(level, seed);
    case Replacement::srrip:
      return std::make_unique<LargeCacheOf<Srrip>>(level, seed);
    case Replacement::brrip:
      return std::make_unique<LargeCacheOf<Brrip>>(level, seed);
  }
  throw std::logic_error("a replacement without a policy");
}

}  // namespace tcsim::sim
