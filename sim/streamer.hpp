// The streamer of Intel's second-level caches, as far as Intel describes it ("Intel 64 and IA-32
// Architectures Optimization Reference Manual", 248966, "Data Prefetch to the L2 and Last Level
// Cache" of Sandy Bridge): it watches the requests to a level, has up to 32 streams, one in a page
// of 4 KiB, forward or backward, may fetch two lines at each request, runs up to 20 lines ahead of
// it (`prefetch_ahead`), and stays in the page.
//
// What the manual does not say is assumed:
//  - A stream begins with the third request of a page, all in one direction: each for another line
//    than the one before, further up (or down) by any step. A request in the other direction ends
//    it; another one that way begins a stream that way.
//  - Of more than 32 pages the one whose last request is longest ago is forgotten.
//  - Of the lines behind the one asked for, the nearest two that the stream has not named yet are
//    fetched. It does not know how busy memory is, and always goes as far ahead as it may.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tcsim::sim {

class Streamer {
 public:
  Streamer(std::uint64_t lines_in_page, int ahead) : lines_in_page_(lines_in_page), ahead_(ahead) {}

  // A request for a line; calls fetch(line) for those to fetch, at most two.
  template <class Fetch>
  void request(std::uint64_t line, Fetch&& fetch) {
    Stream& s = stream_of(line / lines_in_page_);
    s.asked = ++requests_;
    const auto now = static_cast<std::int64_t>(line % lines_in_page_);
    if (s.requests++ == 0) s.last = now;
    if (now == s.last) return;
    const int direction = now > s.last ? 1 : -1;
    s.last = now;
    if (direction != s.direction) {
      s.direction = direction;
      s.named = now;
      return;
    }
    if ((s.named - now) * direction < 0) s.named = now;
    for (int i = 0; i < lines_at_once; ++i) {
      const std::int64_t next = s.named + direction;
      const bool in_page = next >= 0 && next < static_cast<std::int64_t>(lines_in_page_);
      if (!in_page || (next - now) * direction > ahead_) return;
      s.named = next;
      fetch(line - static_cast<std::uint64_t>(now) + static_cast<std::uint64_t>(next));
    }
  }

 private:
  static constexpr std::size_t most_streams = 32;
  static constexpr int lines_at_once = 2;

  struct Stream {
    std::uint64_t page = 0, asked = 0, requests = 0;
    std::int64_t last = 0, named = 0;  // lines of the page: asked for last, furthest that is named
    int direction = 0;                 // of the last two different lines; 0: there was one
  };

  Stream& stream_of(std::uint64_t page) {
    if (latest_ < streams_.size() && streams_[latest_].page == page) return streams_[latest_];
    auto at = std::ranges::find(streams_, page, &Stream::page);
    if (at == streams_.end()) {
      if (streams_.size() < most_streams) {
        at = streams_.emplace(at);
      } else {
        at = std::ranges::min_element(streams_, {}, &Stream::asked);
      }
      *at = {};
      at->page = page;
    }
    latest_ = static_cast<std::size_t>(at - streams_.begin());
    return *at;
  }

  std::uint64_t lines_in_page_;
  int ahead_;
  std::vector<Stream> streams_;
  std::size_t latest_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace tcsim::sim
