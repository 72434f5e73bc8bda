// What a level fetches beyond what it is asked for. It looks at the requests that reach the level
// from inside, in order, and names lines. As in hardware no line is fetched across a border of
// 4 KiB, since the next page may be anywhere.
//  - next_line: after a miss, the line behind it.
//  - stride: the last request and the last step are remembered for each of 64 pages (of the pages
//    that share an entry the latest); a request that repeats a step other than 0 fetches the line
//    one step ahead.
//  - adjacent_line: after a miss, the other line of its pair, which begins at an even line: 128
//    bytes of lines of 64, as the "spatial prefetcher" of Intel's manual.
//  - streamer: see sim/streamer.hpp. With adjacent_line it goes first.
#pragma once

#include <array>
#include <cstdint>

#include "sim/config.hpp"
#include "sim/streamer.hpp"

namespace tcsim::sim {

class Prefetcher {
 public:
  explicit Prefetcher(const LevelConfig& level)
      : kind_(level.prefetch),
        lines_in_page_(std::max<std::uint64_t>(1, page / std::uint64_t(level.line.value()))),
        streamer_(lines_in_page_, level.prefetch_ahead) {}

  // A request for a line, and whether it missed. Calls fetch(line) for the lines to fetch.
  template <class Fetch>
  void request(std::uint64_t line, bool missed, Fetch&& fetch) {
    switch (kind_) {
      case Prefetch::none:
        return;
      case Prefetch::next_line:
        if (missed) fetch_within_page(line, line + 1, fetch);
        return;
      case Prefetch::stride:
        return request_stride(line, fetch);
      case Prefetch::adjacent_line:
        if (missed) fetch_within_page(line, line ^ 1, fetch);
        return;
      case Prefetch::streamer:
        return streamer_.request(line, fetch);
      case Prefetch::streamer_and_adjacent_line:
        streamer_.request(line, fetch);
        if (missed) fetch_within_page(line, line ^ 1, fetch);
        return;
    }
  }

 private:
  static constexpr std::uint64_t page = 4096;
  struct Entry {
    bool used = false;
    std::uint64_t page = 0, line = 0;
    std::int64_t step = 0;
  };

  template <class Fetch>
  void request_stride(std::uint64_t line, Fetch&& fetch) {
    const std::uint64_t page_number = line / lines_in_page_;
    Entry& entry = entries_[page_number % entries_.size()];
    const auto step = static_cast<std::int64_t>(line - entry.line);
    const bool known = entry.used && entry.page == page_number;
    const bool repeats = known && step != 0 && step == entry.step;
    entry = {true, page_number, line, known ? step : 0};
    if (repeats) fetch_within_page(line, line + static_cast<std::uint64_t>(step), fetch);
  }

  template <class Fetch>
  void fetch_within_page(std::uint64_t from, std::uint64_t to, Fetch&& fetch) const {
    if (from / lines_in_page_ == to / lines_in_page_) fetch(to);
  }

  Prefetch kind_;
  std::uint64_t lines_in_page_;
  std::array<Entry, 64> entries_{};
  Streamer streamer_;
};

}  // namespace tcsim::sim
