// What a plan's visitor touches, as lines of plain caches.
#pragma once

#include <cstdint>

#include "sim/hierarchy.hpp"

namespace tcsim::sim {

// Elements side by side become lines; in a row a line that was touched last is not touched again.
class LineSink {
 public:
  LineSink(Hierarchy& caches, int line_bits) : caches_(caches), line_bits_(line_bits) {}
  void enter(Phase phase) { caches_.enter(phase); }
  void begin_row() { previous_ = no_lines; }
  void read(const TwoStreams& streams) { caches_.read(streams); }
  template <bool write>
  void touch(ArrayId array, std::uint64_t address, std::int64_t bytes) {
    LineRun lines{static_cast<std::uint32_t>(address >> line_bits_),
                  static_cast<std::uint32_t>((address + std::uint64_t(bytes) - 1) >> line_bits_)};
    if (lines.first == previous_) ++lines.first;
    previous_ = lines.last;
    if (lines.first > lines.last) return;
    if constexpr (write) {
      caches_.write(lines, array);
    } else {
      caches_.read(lines, array);
    }
  }

 private:
  Hierarchy& caches_;
  int line_bits_;
  std::uint32_t previous_ = no_lines;
};

}  // namespace tcsim::sim
