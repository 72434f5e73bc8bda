// The slow and obvious counterpart of the simulator: caches are lists of lines, and a plan is
// walked element by element by a recursion of its own, with addresses from the contraction's
// strides. It shares with the simulator what a plan says of arrays and packed layouts, nothing
// else.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "core/plan/plan.hpp"
#include "sim/hierarchy.hpp"
#include "sim/simulate.hpp"

namespace tcsim::twin {

struct Line {
  std::int64_t number;
  bool dirty;
};

class Caches {
 public:
  Caches(std::vector<sim::CacheShape> shapes, std::vector<std::pair<std::int64_t, ArrayId>> arrays)
      : shapes_(std::move(shapes)), arrays_(std::move(arrays)), sets_(shapes_.size()) {}

  void touch(std::int64_t line, bool write) {
    want(0, line);
    if (write) set(0, line).front().dirty = true;
  }

  void drain() {
    for (std::size_t l = 0; l < shapes_.size(); ++l) {
      for (auto& [number, lines] : sets_[l]) {
        for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
          if (!line->dirty) continue;
          line->dirty = false;
          leave(l, line->number);
        }
      }
    }
  }

  Phase phase = Phase::compute;
  // By link (1 is the first), phase and array: lines in, lines out.
  std::map<std::tuple<std::size_t, Phase, ArrayId>, std::int64_t> in, out;
  std::map<std::size_t, std::int64_t> fills, evictions;  // by level, 0 the innermost

 private:
  std::list<Line>& set(std::size_t level, std::int64_t line) {
    return sets_[level][line % shapes_[level].sets];
  }

  ArrayId array_of_line(std::int64_t line) const {
    ArrayId array{};
    for (const auto& [first, a] : arrays_) {  // in the order of addresses
      if (first <= line) array = a;
    }
    return array;
  }

  // If the level has the line, makes it the most recent one.
  bool promote(std::size_t level, std::int64_t line) {
    auto& lines = set(level, line);
    for (auto i = lines.begin(); i != lines.end(); ++i) {
      if (i->number != line) continue;
      lines.splice(lines.begin(), lines, i);
      return true;
    }
    return false;
  }

  void want(std::size_t level, std::int64_t line) {
    if (level == shapes_.size() || promote(level, line)) return;
    ++in[{level + 1, phase, array_of_line(line)}];
    want(level + 1, line);
    insert(level, line, false);
  }

  void write_back(std::size_t level, std::int64_t line) {
    if (level == shapes_.size()) return;
    if (promote(level, line)) {
      set(level, line).front().dirty = true;
    } else {
      insert(level, line, true);
    }
  }

  void insert(std::size_t level, std::int64_t line, bool dirty) {
    auto& lines = set(level, line);
    ++fills[level];
    lines.push_front({line, dirty});
    if (static_cast<std::int64_t>(lines.size()) <= shapes_[level].ways) return;
    ++evictions[level];
    const Line victim = lines.back();
    lines.pop_back();
    if (victim.dirty) leave(level, victim.number);
  }

  void leave(std::size_t level, std::int64_t line) {
    ++out[{level + 1, phase, array_of_line(line)}];
    write_back(level + 1, line);
  }

  std::vector<sim::CacheShape> shapes_;
  std::vector<std::pair<std::int64_t, ArrayId>> arrays_;
  std::vector<std::map<std::int64_t, std::list<Line>>> sets_;
};

// A walk of the plan, element by element, on these caches, which keep what they have. `bases`: the
// first byte of each array. What the core loads and stores.
LinkTraffic walk(const Plan& plan, const ByArray<std::int64_t>& bases, std::int64_t line_bytes,
                 Caches& caches);

// What simulate() should return.
Simulation simulate(const Plan& plan, const Machine& machine);

}  // namespace tcsim::twin
