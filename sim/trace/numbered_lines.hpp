// Plain caches behind one another that take runs of neighbouring lines together
// (sim/hierarchy.hpp), for lines of 64 bits. Those of sim/hierarchy.hpp have 31: regions of the
// address space get numbers as they come, congruent modulo every number of sets, so that lines keep
// their sets. If there are more than 31 bits hold, what the caches have moves to a System, which
// goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/hierarchy.hpp"
#include "sim/system.hpp"

namespace tcsim::sim {

class NumberedLines {
 public:
  // Whether the numbers of sets have a common multiple that lets a few regions have numbers.
  static bool takes(const SystemConfig& config);

  // One part of the lines. `numbers`: of lines, at most max_lines.
  NumberedLines(const SystemConfig& config, LinePart part, std::int64_t numbers);

  // The core touches the line, or every line up to the last one, in order; those of other parts are
  // left out.
  void touch(std::uint64_t line, bool write) { touch(line, line, write); }
  void touch(std::uint64_t first, std::uint64_t last, bool write);
  void finish(bool drain);
  // What each level did, but hits. Complete after finish().
  std::vector<LevelEvents> events() const;

 private:
  std::uint32_t base_of(std::uint64_t region);
  void move_to_system();

  SystemConfig config_;
  LinePart part_;
  int line_bits_;
  Hierarchy caches_;

  // Regions of 2^region_bits lines: their first number.
  std::unordered_map<std::uint64_t, std::uint32_t> bases_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> regions_;  // by first number
  struct Known {
    std::uint64_t region = ~std::uint64_t{0};
    std::uint32_t base = 0;
  };
  std::vector<Known> known_;  // of bases_, by region modulo their number
  std::uint64_t common_;      // multiple of all numbers of sets
  std::uint64_t next_ = 0;    // number that is free
  std::uint64_t numbers_;

  std::unique_ptr<System<>> system_;  // once numbers have run out
};

}  // namespace tcsim::sim
