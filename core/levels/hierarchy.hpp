// Explicit levels of a machine: disk, the global memory of all nodes together, the local memory of
// a process, a device's memory. Data are moved between neighbouring levels by transfers, nothing is
// evicted (Ma, Krishnamoorthy and Agrawal, multilevel-fusion-gpu, section 3: levels alpha, beta,
// gamma of sizes M, and the time Lambda to move an element between neighbours).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/units/quantity.hpp"

namespace tcsim::levels {

struct Hierarchy {
  // One memory, and the link to the next one outside it; the outermost has no link.
  struct Level {
    std::string name;
    Bytes capacity;              // 0: unlimited
    std::int64_t instances = 1;  // that share one of the next level
    BytesPerSecond bandwidth;    // of one instance's link, both directions together
    Seconds transfer;            // of each transfer over it, before its first byte
    Seconds row{0};              // of each row of a tile, besides its bytes (Moved::rows)
  };
  std::vector<Level> levels;  // innermost first, at least two; the outermost has room for all
  FlopsPerSecond rate;        // of one process, the instances of levels[0]
  // What a statement takes besides for each byte of its tiles: operands are read, and results read
  // and written. Of large products it is little, of thin tiles most.
  Seconds tile_byte{0};
  // Whether transfers over all links and the arithmetic of a part of the chain go on at the same
  // time. What is loaded or stored is then held twice.
  bool overlap = false;

  int links() const { return static_cast<int>(levels.size()) - 1; }
  const Level& level(int l) const { return levels[static_cast<std::size_t>(l)]; }
  // "local-global": between a level and the next one.
  std::string link(int inner) const;
  // Of a level on the whole machine: as many work at the same time at most.
  std::int64_t instances(int level) const;
};

// Whether tcsim fuse plans transfers between the machine's levels: it has a scratchpad, or several
// memories.
bool has_explicit_levels(const Machine& machine);

// The levels of such a machine that are no caches. `element` decides the peak. Throws
// UnsupportedError where there are fewer than two, or more than 2^20 processes.
Hierarchy hierarchy(const Machine& machine, Bytes element);

}  // namespace tcsim::levels
