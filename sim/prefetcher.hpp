// What a level fetches beyond what it is asked for. It looks at the requests that reach the level
// from inside, in order, and names at most one line for each. As in hardware no line is fetched
// across a border of 4 KiB, since the next page may be anywhere.
//  - next_line: after a miss, the line behind it.
//  - stride: the last request and the last step are remembered for each of 64 pages (of the pages
//    that share an entry the latest); a request that repeats a step other than 0 fetches the line
//    one step ahead.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sim/config.hpp"

namespace tcsim::sim {

class Prefetcher {
 public:
  Prefetcher(Prefetch kind, Bytes line)
      : kind_(kind),
        lines_in_page_(std::max<std::uint64_t>(1, page / std::uint64_t(line.value()))) {}

  // A request for a line, and whether it missed; the line to fetch.
  std::optional<std::uint64_t> request(std::uint64_t line, bool missed) {
    if (kind_ == Prefetch::none) return {};
    if (kind_ == Prefetch::next_line) {
      return missed ? within_page(line, line + 1) : std::nullopt;
    }
    const std::uint64_t page_number = line / lines_in_page_;
    Entry& entry = entries_[page_number % entries_.size()];
    const auto step = static_cast<std::int64_t>(line - entry.line);
    const bool known = entry.used && entry.page == page_number;
    const bool repeats = known && step != 0 && step == entry.step;
    entry = {true, page_number, line, known ? step : 0};
    if (!repeats) return {};
    return within_page(line, line + static_cast<std::uint64_t>(step));
  }

 private:
  static constexpr std::uint64_t page = 4096;
  struct Entry {
    bool used = false;
    std::uint64_t page = 0, line = 0;
    std::int64_t step = 0;
  };

  std::optional<std::uint64_t> within_page(std::uint64_t from, std::uint64_t to) const {
    if (from / lines_in_page_ != to / lines_in_page_) return {};
    return to;
  }

  Prefetch kind_;
  std::uint64_t lines_in_page_;
  std::array<Entry, 64> entries_{};
};

}  // namespace tcsim::sim
