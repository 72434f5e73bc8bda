// A victim cache: a small fully associative cache beside a level that takes the lines that leave it
// and gives them back when they are asked for (Jouppi 1990, "Improving direct-mapped cache
// performance by the addition of a small fully-associative cache and prefetch buffers", section
// 3.2). A line that is asked for leaves at once, so that the one that came first is the least
// recently used one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/cache.hpp"

namespace tcsim::sim {

class VictimCache {
 public:
  using Line = Cache::Line;

  explicit VictimCache(int lines) : most_(static_cast<std::size_t>(lines)) {}

  bool exists() const { return most_ > 0; }
  bool has(std::uint64_t line) const {
    return std::ranges::find(lines_, line, &Line::number) != lines_.end();
  }
  // The line, which leaves, if it is there.
  std::optional<Line> take(std::uint64_t line) {
    const auto at = std::ranges::find(lines_, line, &Line::number);
    if (at == lines_.end()) return {};
    const Line taken = *at;
    lines_.erase(at);
    return taken;
  }
  // Puts in a line that is not there; the one that had to leave for it.
  std::optional<Line> put(Line line) {
    lines_.push_back(line);
    if (lines_.size() <= most_) return {};
    const Line oldest = lines_.front();
    lines_.erase(lines_.begin());
    return oldest;
  }
  // Those that are dirty, the oldest first.
  std::vector<std::uint64_t> dirty_lines() const {
    std::vector<std::uint64_t> dirty;
    for (const Line& l : lines_) {
      if (l.dirty) dirty.push_back(l.number);
    }
    return dirty;
  }
  // Whether the line is there and was dirty; now it is clean.
  bool take_dirty(std::uint64_t line) {
    const auto at = std::ranges::find(lines_, line, &Line::number);
    return at != lines_.end() && std::exchange(at->dirty, false);
  }

 private:
  std::size_t most_;
  std::vector<Line> lines_;  // the oldest first
};

}  // namespace tcsim::sim
