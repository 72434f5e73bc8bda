// A trace on plain caches (is_plain() in sim/config.hpp), several times faster than sim/system.hpp.
//
//  - A line that is the latest used one of its set in the innermost cache changes nothing when it
//    is touched again, but may become dirty. A table of such lines answers most accesses.
//  - A run at a stride of up to a line touches neighbouring lines in order, and the touches in
//    between are counted, not made.
//  - What is left goes line by line to sim/trace/lru_lines.hpp, or, where a trace has long runs,
//    many lines at once to sim/trace/numbered_lines.hpp. The counts are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/config.hpp"
#include "sim/events.hpp"
#include "sim/hierarchy.hpp"
#include "sim/trace/trace.hpp"

namespace tcsim::sim {

class PlainTrace {
 public:
  virtual ~PlainTrace() = default;

  // The accesses of a batch, in order; a modify is a read, then a write. Heeds StopScope.
  virtual void run(const TraceBatch& batch, bool with_instructions) = 0;
  // To be called at the end: what is counted is complete only then. Dirty lines are written back,
  // or stay.
  virtual void finish(bool drain) = 0;

  // Since the beginning: what each level did, in lines of its part, but `touches` in all lines.
  virtual std::vector<LevelEvents> events() const = 0;
  std::int64_t touches() const { return touches_; }

 protected:
  std::int64_t touches_ = 0;
};

// Whether there is one for these caches.
bool can_run_plain_trace(const SystemConfig& config);
// Into how many classes of lines, a power of two, they can be parted.
std::int64_t most_plain_parts(const SystemConfig& config);

// Of `parts` classes this simulates and counts one. `runs`: it expects long runs of lines.
// `numbers`: of lines, at most max_lines.
std::unique_ptr<PlainTrace> plain_trace(const SystemConfig& config, bool runs, std::uint32_t part,
                                        std::uint32_t parts, std::int64_t numbers = max_lines);

}  // namespace tcsim::sim
