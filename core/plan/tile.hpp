// The part of the iteration space that is current somewhere in a schedule.
#pragma once

#include <array>
#include <cstdint>

#include "core/schedule/path.hpp"

namespace tcsim {

// A part of a group's fused index.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  bool operator==(const Interval&) const = default;
};

// The current range of every group, by DimClass.
using Tile = ByGroup<Interval>;

}  // namespace tcsim
