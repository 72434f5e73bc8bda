// The operations of sim/cache.hpp that every access makes.
#pragma once

#include "sim/cache.hpp"
#include "sim/way_bytes.hpp"

namespace tcsim::sim {

inline std::uint64_t Cache::equal_bytes(const char* bytes, std::uint8_t wanted) const {
  return sim::equal_bytes(bytes, padded_, wanted);
}

[[gnu::always_inline]] inline Cache::Slot Cache::find(std::uint64_t line) const {
  if (large_) return large_->find(line);
  const std::uint64_t set = set_of(line);
  const char* const row = row_of(set);
  std::uint64_t candidates = equal_bytes(row, byte_of(line)) & masks(row).taken;
  const std::uint64_t* const lines = numbers(row);
  for (; candidates != 0; candidates &= candidates - 1) {
    const int way = std::countr_zero(candidates);
    if (lines[way] == line) return static_cast<Slot>(set << way_bits) | way;
  }
  return absent;
}

inline void Cache::bring_to_front(std::uint8_t* ranks, int way) const {
  sim::bring_to_front(reinterpret_cast<char*>(ranks), padded_, way);
}

// See sim/policy for what each of them is.
inline void Cache::used(char* row, int way) {
  if (qlru_) return used_qlru(row, way);
  switch (policy_) {
    case Replacement::lru:
      return bring_to_front(state(row), way);
    case Replacement::tree_plru: {
      std::uint64_t& word = masks(row).word;
      const Path& path = paths_[static_cast<std::size_t>(way)];
      word = (word & ~path.nodes) | path.bits;
      return;
    }
    case Replacement::bit_plru: {
      std::uint64_t& marks = masks(row).word;
      marks |= std::uint64_t{1} << way;
      if (marks == all_) marks = std::uint64_t{1} << way;
      return;
    }
    case Replacement::srrip:
    case Replacement::brrip:
      state(row)[way] = 0;
      return;
    case Replacement::fifo:
    case Replacement::random:
      return;
  }
}

}  // namespace tcsim::sim
