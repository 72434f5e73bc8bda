// A cache of more ways than sim/cache.hpp has room for: a table finds lines, and policies
// (sim/policy) take constant time. Fully associative caches of any size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/config.hpp"

namespace tcsim::sim {

// A line's number is its address divided by the line size.
class LargeCache {
 public:
  // A place of a line: set * ways + way.
  using Slot = std::int64_t;
  static constexpr Slot absent = -1;

  struct Line {
    std::uint64_t number = 0;
    bool dirty = false;
    bool prefetched = false;  // and not asked for since
  };

  virtual ~LargeCache() = default;

  virtual Slot find(std::uint64_t line) const = 0;
  virtual Line& at(Slot) = 0;
  // The line in the slot is used.
  virtual void use(Slot) = 0;
  // Puts in a line that is not there; the line that had to leave for it.
  virtual std::optional<Line> insert(Line) = 0;
  virtual void remove(Slot) = 0;
  // Slots of dirty lines, set by set; within a set in the order of the policy's age().
  virtual std::vector<Slot> dirty_slots() const = 0;
};

std::unique_ptr<LargeCache> make_large_cache(const LevelConfig& level, std::uint64_t seed);

}  // namespace tcsim::sim
