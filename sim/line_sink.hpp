// What a plan's visitor touches, as lines of plain caches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/hierarchy.hpp"
#include "sim/simulate.hpp"

namespace tcsim::sim {

// Elements side by side become lines; in a row a line that was touched last is not touched again.
// Of a share of the lines, numbered without the bits that name it, others do not reach the caches.
class LineSink {
 public:
  LineSink(Hierarchy& caches, int line_bits, Share share = {})
      : caches_(caches),
        line_bits_(line_bits),
        share_bits_(std::countr_zero(static_cast<std::uint64_t>(share.of))),
        number_(static_cast<std::uint32_t>(share.number)) {}
  void enter(Phase phase) { caches_.enter(phase); }
  void begin_row() { previous_ = no_lines; }
  void read(const TwoStreams& streams) {
    if (share_bits_ == 0) return caches_.read(streams);
    const std::int64_t bytes = std::int64_t{streams.left_bytes} + streams.right_bytes;
    const std::int64_t most = std::int64_t{caches_.residues()} << share_bits_ << line_bits_;
    const std::int64_t at_once = std::max(std::int64_t{1}, most / (2 * bytes));
    for (std::int64_t step = 0; step < streams.steps; step += at_once) {
      read_steps(streams, step, std::min(at_once, streams.steps - step));
    }
  }
  template <bool write>
  void touch(ArrayId array, std::uint64_t address, std::int64_t bytes) {
    LineRun lines = lines_of(address, bytes);
    if (lines.first == previous_) ++lines.first;
    previous_ = lines.last;
    if (lines.first > lines.last) return;
    if (share_bits_ > 0 && !keep(lines)) return;
    if constexpr (write) {
      caches_.write(lines, array);
    } else {
      caches_.read(lines, array);
    }
  }

 private:
  LineRun lines_of(std::uint64_t address, std::int64_t bytes) const {
    return {static_cast<std::uint32_t>(address >> line_bits_),
            static_cast<std::uint32_t>((address + std::uint64_t(bytes) - 1) >> line_bits_)};
  }
  // The lines of the share by their own numbers; false where there are none.
  bool keep(LineRun& run) const {
    if (run.last < number_) return false;
    const std::uint32_t last = (run.last - number_) >> share_bits_;
    run.first = run.first <= number_ ? 0 : ((run.first - number_ - 1) >> share_bits_) + 1;
    run.last = last;
    return run.first <= last;
  }
  // One stream after the other where they meet in no set, else half as many steps at a time.
  void read_steps(const TwoStreams& s, std::int64_t step, std::int64_t steps) {
    const auto lines = [&](std::uint64_t begin, std::int64_t bytes) {
      return lines_of(begin + static_cast<std::uint64_t>(step * bytes), steps * bytes);
    };
    LineRun left = lines(s.left, s.left_bytes), right = lines(s.right, s.right_bytes);
    const bool some_left = keep(left), some_right = keep(right);
    if (some_left && some_right && steps > 1) {
      const std::uint32_t mask = caches_.residues() - 1;
      const bool apart = left.last - left.first < ((right.first - left.first) & mask) &&
                         right.last - right.first < ((left.first - right.first) & mask);
      if (!apart) {
        read_steps(s, step, steps / 2);
        return read_steps(s, step + steps / 2, steps - steps / 2);
      }
    }
    if (some_left) caches_.read(left, s.left_array);
    if (some_right) caches_.read(right, s.right_array);
  }

  Hierarchy& caches_;
  int line_bits_, share_bits_;
  std::uint32_t number_;
  std::uint32_t previous_ = no_lines;
};

}  // namespace tcsim::sim
