// States of tree PLRU that differ only in which half of a node is called the left one do the same,
// as long as no way is empty (the first empty one is filled first). Turning a node exchanges its
// halves, with all that they hold, and its bit. Where all nodes with a bit are turned, from the
// root on, no bit is left: so states are compared, and what one of them became serves the others.
#pragma once

#include <cstdint>

#include "sim/level.hpp"

namespace tcsim::sim {

// Tree PLRU with a power of two of ways.
bool has_turns(const LevelData& level);

// In what follows `tags` are laid out as the level's are, and words and turns are one for each set
// as the level's words are. A turn has a bit for each node that is turned, at the place that it has
// when its turn comes.

// Turns that leave no bit; none for sets with an empty way.
void find_turns(const LevelData& level, const Tag* tags, const std::uint32_t* words,
                std::uint32_t* turns);
void turn(const LevelData& level, Tag* tags, std::uint32_t* words, const std::uint32_t* turns);
void turn_back(const LevelData& level, Tag* tags, std::uint32_t* words, const std::uint32_t* turns);

}  // namespace tcsim::sim
