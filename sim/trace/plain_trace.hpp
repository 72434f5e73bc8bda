// A trace on plain caches (is_plain() in sim/config.hpp), several times faster than sim/system.hpp.
//
//  - A line that is the latest used one of its set in the innermost cache changes nothing when it
//    is touched again, but may become dirty. A table of such lines answers most accesses.
//  - A run at a stride of up to a line touches neighbouring lines in order: sim/hierarchy.hpp takes
//    them together, and the touches in between are counted, not made.
//  - Line numbers of sim/hierarchy.hpp have 31 bits, those of a trace up to 64. Regions of the
//    address space get numbers as they come, congruent modulo every number of sets, so that lines
//    keep their sets. If there are more than 31 bits hold, what the caches have moves to a
//    System, which goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/hierarchy.hpp"
#include "sim/system.hpp"
#include "sim/trace/trace.hpp"

namespace tcsim::sim {

// Whether PlainTrace takes these caches: plain ones whose sets have a common multiple that fits.
bool can_run_plain_trace(const SystemConfig& config);

class PlainTrace {
 public:
  // Of `parts` classes of lines (a power of two up to most_parts()) this simulates and counts
  // one. `numbers`: of lines, at most max_lines. Engine::best for runs of many lines,
  // Engine::narrow for single accesses; the counts are the same.
  PlainTrace(const SystemConfig& config, Engine engine, std::uint32_t part, std::uint32_t parts,
             std::int64_t numbers = max_lines);
  static std::int64_t most_parts(const SystemConfig& config);

  // The accesses of a batch, in order; a modify is a read, then a write. Heeds StopScope.
  void run(const TraceBatch& batch, bool with_instructions);
  // To be called at the end: what is counted is complete only then. Dirty lines are written back,
  // or stay.
  void finish(bool drain);

  // Since the beginning: what each level did, in lines of its part, but `touches` in all lines.
  std::int64_t touches() const { return touches_; }
  std::vector<LevelEvents> events() const;

 private:
  void run(const TraceRecord& record);
  void access(std::uint64_t address, std::uint32_t bytes, bool write);
  void touch(std::uint64_t line, bool write);
  void mark(std::uint64_t line, bool write);  // touch(), without the count
  void pass(std::uint64_t line, bool write);
  std::uint64_t lines_of_short_run(const TraceBatch::Access& a, const TraceBatch::Run& all) const;
  bool run_as_lines(const TraceRecord& record, bool write);
  void touch_lines(std::uint64_t first, std::uint64_t last, bool write);
  std::uint32_t base_of(std::uint64_t region);
  void move_to_system();

  SystemConfig config_;
  int line_bits_ = 0;
  Hierarchy caches_;
  bool narrow_;
  std::uint32_t part_, part_mask_;
  int part_bits_ = 0;  // of the line number, below those that say the part
  std::int64_t touches_ = 0;

  // By line modulo their number: the line touched last, shifted left by one; bit 0 says that it is
  // known to be dirty.
  std::vector<std::uint64_t> latest_;
  std::uint64_t latest_mask_ = 0;
  std::uint64_t apart_ = 1;  // neighbouring lines up to so many lie in sets of their own

  // Regions of 2^region_bits lines: their first number.
  std::unordered_map<std::uint64_t, std::uint32_t> bases_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> regions_;  // by first number
  struct Known {
    std::uint64_t region = ~std::uint64_t{0};
    std::uint32_t base = 0;
  };
  std::vector<Known> known_;  // of bases_, by region modulo their number
  std::uint64_t common_ = 1;  // multiple of all numbers of sets
  std::uint64_t next_ = 0;    // number that is free
  std::uint64_t numbers_;

  std::unique_ptr<System<>> system_;  // once numbers have run out
};

}  // namespace tcsim::sim
