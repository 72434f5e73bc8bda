// As many sets at once as a vector has lanes. Included once by each file that compiles it for an
// instruction set. Isa keeps the copies apart; it has
//   Vector, width           a vector of 32-bit lanes, and their number
//   pick(mask, a, b, to)    to = a in the lanes where the mask is all ones, b where it is 0
//   mask_of(mask)           one bit for each lane, its top bit
// There is no branch on hit or miss: every lane sifts its line down the ways until it meets itself,
// and moves what it passes back by one.
#pragma once

#include <cstring>

#include "sim/level.hpp"

namespace tcsim::sim {

// Ways: their number where the compiler is to know it, otherwise 0.
template <class Isa, std::uint32_t Ways>
inline void access_wide(const LevelData& level, std::uint32_t block, LaneMask lanes, LaneMask dirty,
                        Missed& missed) {
  using Vector = typename Isa::Vector;
  const std::uint32_t ways = Ways ? Ways : level.ways;
  auto* const way = reinterpret_cast<Vector*>(level.tags_of(block));
  const Vector wanted = (tag_of(block * Isa::width) | dirty_bit) + 2 * Isa::lane;
  const Vector bit = Isa::bit;
  const Vector active = Vector((lanes & bit) == bit);
  Vector settled = ~active;            // lanes whose further ways stay as they are
  Vector moving = wanted - dirty_bit;  // the tag that comes to the next way
  Vector seen = {};                    // the line's tag as it was
#pragma GCC unroll 16
  for (std::uint32_t i = 0; i < ways; ++i) {
    const Vector old = way[i];
    const Vector same = Vector((old | dirty_bit) == wanted);
    Isa::pick(settled, old, moving, way[i]);
    seen |= old & same;
    settled |= same;
    moving = old;
  }
  way[0] |= seen & active & dirty_bit;
  if (dirty) way[0] |= Vector((dirty & bit) == bit) & dirty_bit;
  missed.lanes = Isa::mask_of(~settled);
  missed.dirty_victims = Isa::mask_of(~settled & (moving << 31));
  if (missed.dirty_victims) std::memcpy(missed.victims.data(), &moving, sizeof moving);
}

template <class Isa>
Access access_wide_for(std::uint32_t ways) {
  switch (ways) {
    case 4:
      return access_wide<Isa, 4>;
    case 8:
      return access_wide<Isa, 8>;
    case 12:
      return access_wide<Isa, 12>;
    case 16:
      return access_wide<Isa, 16>;
    default:
      return access_wide<Isa, 0>;
  }
}

}  // namespace tcsim::sim
