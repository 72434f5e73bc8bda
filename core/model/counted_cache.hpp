// A cache for the parts of a walk that the model counts instead of estimating
// (core/model/copies.hpp, pieces.hpp, leaves.hpp): LRU, empty at first, and no more than that. The
// simulator is elsewhere, and knows all rules.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"

namespace tcsim {

// Lines of the whole walk that a cache lacks, by array.
struct CountedLines {
  explicit CountedLines(int arrays) : kernels(arrays), packing(arrays), written(arrays) {}

  PerArray kernels, packing;  // fetched for kernels, and for packs
  PerArray written;           // dirty ones that leave, of packed copies
};

// Some of all lines, which stand for all: those of some sets, in caches whose numbers of sets have
// a power of two as a common divisor. A line's last bits say whether it is one.
class SomeSets {
 public:
  // All lines.
  SomeSets() = default;
  // One line of `one_of`, of caches whose numbers of sets `divisor` divides, a power of two; more
  // where that would be too few.
  SomeSets(std::int64_t divisor, std::int64_t one_of) {
    const std::int64_t count =
        std::max({std::min(fewest, divisor), std::min(enough, divisor / 4), divisor / one_of});
    if (count == divisor) return;
    mask_ = divisor - 1;
    bits_ = std::countr_zero(static_cast<std::uint64_t>(divisor));
    number_.assign(static_cast<std::size_t>(divisor), none);
    // Neither every so many of them nor side by side: strides would see it.
    std::vector<std::pair<std::uint64_t, std::size_t>> mixed;
    for (std::size_t i = 0; i < number_.size(); ++i) {
      mixed.push_back({(i + 1) * 0x9e3779b97f4a7c15 * ((i << 1) | 1), i});
    }
    std::ranges::sort(mixed);
    for (; count_ < count; ++count_) {
      number_[mixed[static_cast<std::size_t>(count_)].second] = count_;
    }
    ahead_.assign(number_.size(), 0);
    std::int64_t ahead = 0;
    for (std::size_t i = 2 * ahead_.size(); i-- > 0;) {
      ahead = number_[i & static_cast<std::size_t>(mask_)] != none ? 0 : ahead + 1;
      ahead_[i & static_cast<std::size_t>(mask_)] = ahead;
    }
  }

  // The first of them from this line on.
  std::int64_t next(std::int64_t line) const {
    return number_.empty() ? line : line + ahead_[index(line)];
  }
  // How many lines there are for each of these.
  double stands_for() const {
    return number_.empty() ? 1 : static_cast<double>(number_.size()) / static_cast<double>(count_);
  }
  // Of so many sets, those that have such lines, and the number of a line's set among them.
  std::int64_t sets(std::int64_t all) const {
    return number_.empty() ? all : (all >> bits_) * count_;
  }
  std::int64_t set(std::int64_t line, std::int64_t all) const {
    const std::int64_t whole = (all & (all - 1)) == 0 ? line & (all - 1) : line % all;
    return number_.empty() ? whole : (whole >> bits_) * count_ + number_[index(line)];
  }

 private:
  // Values of the last bits, at least; a quarter of all up to `enough`. Source: chosen.
  static constexpr std::int64_t fewest = 16, enough = 64;
  static constexpr std::int64_t none = -1;
  std::size_t index(std::int64_t line) const { return static_cast<std::size_t>(line & mask_); }

  std::int64_t mask_ = 0, count_ = 0;
  int bits_ = 0;
  std::vector<std::int64_t> number_;  // by the last bits
  std::vector<std::int64_t> ahead_;   // how far the next one is
};

// Lines go in as they are touched, and the one not used longest leaves.
class CountedCache {
 public:
  // Only of lines that `looked_at` has, it may be asked.
  explicit CountedCache(const SetAssociative& shape, SomeSets looked_at = {})
      : sets_(std::max<std::int64_t>(1, std::llround(shape.sets))),
        ways_(shape.ways),
        looked_at_(std::move(looked_at)) {
    if (sets_ > 1 || ways_ <= many_ways) {
      tags_.assign(static_cast<std::size_t>(looked_at_.sets(sets_) * ways_), nothing);
    }
  }

  // Whether the line is there; it is afterwards.
  bool touch(std::int64_t line) {
    return touch(line, false, [](std::int64_t, bool) {});
  }
  // The same; calls leaves(line, dirty) for one that makes room, dirty if it was written.
  template <class F>
  bool touch(std::int64_t line, bool writes, F&& leaves) {
    if (tags_.empty()) return touch_by_line(line, writes, leaves);
    std::int64_t* const first = set_of(line);
    const std::int64_t clean = line * 2, dirty = clean | 1;
    // It goes down the ways until it meets itself, and what it passes moves back by one.
    std::int64_t moving = clean;
    for (std::int64_t* way = first; way != first + ways_; ++way) {
      const std::int64_t old = std::exchange(*way, moving);
      if ((old | 1) == dirty) {
        *first = old | (writes ? 1 : 0);
        return true;
      }
      moving = old;
    }
    *first |= writes ? 1 : 0;
    if (moving != nothing) leaves(moving >> 1, (moving & 1) != 0);
    return false;
  }

  // Takes a line out: whether it was dirty, empty if it was not there. Of caches with sets.
  std::optional<bool> take(std::int64_t line) {
    std::int64_t* const first = set_of(line);
    std::int64_t* const last = first + ways_;
    std::int64_t* const place =
        std::find_if(first, last, [&](std::int64_t t) { return (t | 1) == (line * 2 | 1); });
    if (place == last) return {};
    const bool dirty = (*place & 1) != 0;
    std::copy(place + 1, last, place);
    *(last - 1) = nothing;
    return dirty;
  }

  // Adds the dirty lines that are there.
  void add_dirty(std::vector<std::int64_t>& lines) const {
    for (std::int64_t tag : tags_) {
      if (tag != nothing && (tag & 1) != 0) lines.push_back(tag >> 1);
    }
    for (const auto& [line, dirty] : order_) {
      if (dirty) lines.push_back(line);
    }
  }

  void clear() {
    std::ranges::fill(tags_, nothing);
    order_.clear();
    places_.clear();
  }

 private:
  static constexpr std::int64_t nothing = -2;
  // Caches of one set are looked up by line if they have more ways. Source: chosen.
  static constexpr std::int64_t many_ways = 64;

  std::int64_t* set_of(std::int64_t line) {
    return tags_.data() + looked_at_.set(line, sets_) * ways_;
  }

  template <class F>
  bool touch_by_line(std::int64_t line, bool writes, F&& leaves) {
    const auto known = places_.find(line);
    if (known != places_.end()) {
      order_.splice(order_.begin(), order_, known->second);
      order_.front().second |= writes;
      return true;
    }
    order_.push_front({line, writes});
    places_[line] = order_.begin();
    if (std::ssize(order_) > sets_ * ways_) {
      const auto [old, dirty] = order_.back();
      leaves(old, dirty);
      places_.erase(old);
      order_.pop_back();
    }
    return false;
  }

  std::int64_t sets_, ways_;
  SomeSets looked_at_;
  // Of each set, the one used last first; twice the line, and one more where it is dirty.
  std::vector<std::int64_t> tags_;
  // Of one set with many ways.
  std::list<std::pair<std::int64_t, bool>> order_;
  std::unordered_map<std::int64_t, std::list<std::pair<std::int64_t, bool>>::iterator> places_;
};

}  // namespace tcsim
