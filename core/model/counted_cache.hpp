// A cache for the parts of a walk that the model counts instead of estimating
// (core/model/copies.hpp, core/model/pieces.hpp): LRU, empty at first, and no more than that. The
// simulator is elsewhere, and knows all rules.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <list>
#include <unordered_map>
#include <vector>

#include "core/model/occupancy.hpp"

namespace tcsim {

// Lines go in as they are touched, and the one not used longest leaves.
class CountedCache {
 public:
  explicit CountedCache(const SetAssociative& shape)
      : sets_(std::max<std::int64_t>(1, std::llround(shape.sets))),
        ways_(shape.ways),
        mask_((sets_ & (sets_ - 1)) == 0 ? sets_ - 1 : -1) {
    if (ways_ <= many_ways) tags_.assign(static_cast<std::size_t>(sets_ * ways_), nothing);
  }

  // Whether the line is there; it is afterwards.
  bool touch(std::int64_t line) {
    return touch(line, [](std::int64_t) {});
  }
  // The same; calls leaves(line) for one that makes room.
  template <class F>
  bool touch(std::int64_t line, F&& leaves) {
    if (tags_.empty()) return touch_by_line(line, leaves);
    const std::int64_t set = mask_ >= 0 ? line & mask_ : line % sets_;
    std::int64_t* const first = tags_.data() + set * ways_;
    if (*first == line) return true;
    std::int64_t* const last = first + ways_;
    std::int64_t* place = std::find(first, last, line);
    const bool there = place != last;
    if (!there && *--place != nothing) leaves(*place);
    std::copy_backward(first, place, place + 1);
    *first = line;
    return there;
  }

  void clear() {
    std::ranges::fill(tags_, nothing);
    order_.clear();
    places_.clear();
  }

 private:
  static constexpr std::int64_t nothing = -1;
  // Caches of more ways are looked up by line. Source: chosen.
  static constexpr std::int64_t many_ways = 64;

  template <class F>
  bool touch_by_line(std::int64_t line, F&& leaves) {
    const auto known = places_.find(line);
    if (known != places_.end()) {
      order_.splice(order_.begin(), order_, known->second);
      return true;
    }
    order_.push_front(line);
    places_[line] = order_.begin();
    if (std::ssize(order_) > sets_ * ways_) {
      leaves(order_.back());
      places_.erase(order_.back());
      order_.pop_back();
    }
    return false;
  }

  std::int64_t sets_, ways_, mask_;
  std::vector<std::int64_t> tags_;  // of each set, the one used last first
  // Of one with many ways, taken as one set.
  std::list<std::int64_t> order_;
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> places_;
};

}  // namespace tcsim
