// A part of a run, in line touches of the core: the clock of what is simulated.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tcsim {

// Numbers count from 0; `end` is behind the last touch, or far behind the end of the run.
struct TouchRange {
  std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
  bool operator==(const TouchRange&) const = default;
};

// "1000..2000", "..2000" or "1000..". Throws UsageError with `place` for anything else, and for a
// range with nothing in it.
TouchRange parse_touch_range(std::string_view text, const std::string& place);
std::string to_text(const TouchRange& range);

}  // namespace tcsim
