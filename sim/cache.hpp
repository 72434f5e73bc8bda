// One cache: which lines its sets hold and which of them are dirty, with a replacement policy. What
// is done with lines that come and leave is the business of sim/system.hpp.
//
// What a set knows lies in one row: a byte of every line's number, by which 16 ways are compared at
// once; a byte of every way for the policy; masks of ways; and the lines' numbers. Policies of up
// to 64 ways are a few operations on these; sim/policy has them as they are defined, for caches of
// more ways (sim/large_cache.hpp).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/config.hpp"
#include "sim/large_cache.hpp"
#include "sim/set_hash.hpp"
#include "sim/set_modulo.hpp"
#include "sim/way_bytes.hpp"

namespace tcsim::sim {

// A line's number is its address divided by the line size.
class Cache {
 public:
  // A place of a line.
  using Slot = std::int64_t;
  static constexpr Slot absent = -1;
  using Line = LargeCache::Line;
  static constexpr std::int64_t most_ways = 64;  // with more of them it is a LargeCache

  Cache(const LevelConfig& level, std::uint64_t seed);

  Slot find(std::uint64_t line) const;

  std::uint64_t number(Slot slot) const {
    return large_ ? large_->at(slot).number : numbers(row_at(slot))[way_of(slot)];
  }
  bool dirty(Slot slot) const {
    return large_ ? large_->at(slot).dirty : (masks(row_at(slot)).dirty & bit_of(slot)) != 0;
  }
  void set_dirty(Slot slot, bool dirty) {
    if (large_) {
      large_->at(slot).dirty = dirty;
      return;
    }
    std::uint64_t& all = masks(row_at(slot)).dirty;
    all = dirty ? all | bit_of(slot) : all & ~bit_of(slot);
  }
  // Whether it was prefetched and not asked for; now it was.
  bool take_prefetched(Slot slot) {
    if (large_) {
      const bool was = large_->at(slot).prefetched;
      large_->at(slot).prefetched = false;
      return was;
    }
    std::uint64_t& all = masks(row_at(slot)).prefetched;
    const bool was = (all & bit_of(slot)) != 0;
    all &= ~bit_of(slot);
    return was;
  }
  // The line in the slot is used.
  void use(Slot slot) {
    if (large_) return large_->use(slot);
    used(row_at(slot), way_of(slot));
  }
  // Puts in a line that is not there; the line that had to leave for it.
  std::optional<Line> insert(Line line);
  void remove(Slot slot);
  // Slots of dirty lines, set by set; within a set LRU and FIFO have the oldest first.
  std::vector<Slot> dirty_slots() const;

 private:
  static constexpr int way_bits = 6;
  // Of ways, in a row behind the bytes.
  struct Masks {
    std::uint64_t taken = 0, dirty = 0, prefetched = 0;
    std::uint64_t word = 0;  // the policy's
  };

  std::uint64_t set_of(std::uint64_t line) const {
    return hash_ ? hash_->set_of(line) : modulo_(line);
  }
  static int way_of(Slot slot) { return static_cast<int>(slot & (most_ways - 1)); }
  static std::uint64_t bit_of(Slot slot) { return std::uint64_t{1} << way_of(slot); }
  char* row_of(std::uint64_t set) const { return rows_.get() + set * row_bytes_; }
  char* row_at(Slot slot) const { return row_of(static_cast<std::uint64_t>(slot) >> way_bits); }
  // Parts of a row.
  Masks& masks(char* row) const { return *reinterpret_cast<Masks*>(row + 2 * padded_); }
  const Masks& masks(const char* row) const {
    return *reinterpret_cast<const Masks*>(row + 2 * padded_);
  }
  std::uint8_t* state(char* row) const { return reinterpret_cast<std::uint8_t*>(row + padded_); }
  const std::uint64_t* numbers(const char* row) const {
    return reinterpret_cast<const std::uint64_t*>(row + 2 * padded_ + sizeof(Masks));
  }
  std::uint64_t* numbers(char* row) const {
    return reinterpret_cast<std::uint64_t*>(row + 2 * padded_ + sizeof(Masks));
  }
  // Of a row's `padded_` bytes.
  std::uint64_t equal_bytes(const char* bytes, std::uint8_t wanted) const;
  void bring_to_front(std::uint8_t* ranks, int way) const;

  void used(char* row, int way);
  void used_qlru(char* row, int way);
  void grow_ages(char* row, int but) const;  // -1: all of them
  int empty_way(std::uint64_t taken) const;
  void filled(char* row, std::uint64_t set, int way);
  int victim(char* row, std::uint64_t set);

  struct Free {
    void operator()(char* rows) const;
  };
  Replacement policy_;
  bool fills_by_tree_;
  std::optional<Qlru> qlru_;
  std::uint64_t seed_;
  std::uint64_t sets_;
  SetModulo modulo_;
  std::uint32_t ways_;
  std::uint64_t all_;  // mask of all ways
  std::size_t padded_ = 16, row_bytes_ = 0;
  std::unique_ptr<char[], Free> rows_;
  // Tree PLRU: the nodes above a way, and what a use of it makes of them.
  struct Path {
    std::uint64_t nodes = 0, bits = 0;
  };
  std::vector<Path> paths_;
  std::unique_ptr<LargeCache> large_;
  std::unique_ptr<SetHash> hash_;  // none where the index is modulo
};

}  // namespace tcsim::sim

#include "sim/cache_inline.hpp"
