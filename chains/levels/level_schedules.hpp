// Parts of a schedule over explicit levels: what one level sees of it, and what room levels take.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "core/levels/schedule.hpp"

namespace tcsim::chains {

// The schedule of one level: its holds, and all loops.
fusion::FusedNode at_level(const levels::Node& node, int level);

// Between these a run is noted as done so far.
std::vector<const levels::Node*> disk_parts(const levels::Node& node);

// Tiles begin at places of so many elements: where a device may have a buffer of its own (512 bytes
// on NVIDIA).
inline constexpr std::int64_t tile_alignment = 128;

// Elements that each level's tiles take at the same time, at most; of the outermost of these
// levels, which processes share, of each process.
std::vector<std::int64_t> room_of(const fusion::OperationTree& tree, int levels, int processes,
                                  const levels::Node& node);

}  // namespace tcsim::chains
