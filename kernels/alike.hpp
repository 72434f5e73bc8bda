// Places of a group that lie alike: what is known of the ones holds for the others, which are as
// far from one another.
#pragma once

#include <cstdint>

#include "core/plan/tile.hpp"

namespace tcsim {

// `table`: the offset of each place of the group; it is not read for a single place.
inline bool lie_alike(const std::int64_t* table, Interval a, Interval b) {
  if (a.size != b.size) return false;
  if (a.begin == b.begin) return true;
  for (std::int64_t i = 1; i < a.size; ++i) {
    if (table[a.begin + i] - table[a.begin] != table[b.begin + i] - table[b.begin]) return false;
  }
  return true;
}

}  // namespace tcsim
