#include "core/plan/touch_range.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/error.hpp"

namespace tcsim {

TouchRange parse_touch_range(std::string_view text, const std::string& place) {
  const auto number = [&](std::string_view digits, std::int64_t missing) {
    if (digits.empty()) return missing;
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), n);
    if (error != std::errc() || end != digits.end() || n < 0) {
      throw UsageError(place, fmt::format("'{}' is no number of a line touch", digits),
                       "write whole numbers, 1000..2000");
    }
    return n;
  };
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    throw UsageError(place, "that is no range", "write FROM..TO");
  }
  const TouchRange range{number(text.substr(0, dots), 0),
                         number(text.substr(dots + 2), TouchRange{}.end)};
  if (range.begin >= range.end) {
    throw UsageError(place, "there is nothing in it", "the second number is behind the last touch");
  }
  return range;
}

std::string to_text(const TouchRange& range) {
  return range.end == TouchRange{}.end ? fmt::format("{}..", range.begin)
                                       : fmt::format("{}..{}", range.begin, range.end);
}

}  // namespace tcsim
