// Where a fused structure reads and writes disk, and its tiles (Gao et al., section 5.1, steps 3 to
// 5): the least time of the disk under a limit of memory, with a bound on what the structure could
// reach at all.
//
// All loops of a node are tiled and what is within a tile is looped over again below (multi-level
// tiling), so a node's band of loops is over all indices that its statements share. An array is
// read or written somewhere in the bands on the way to its statement: outside some loops of one
// band and inside the others. Loops of a band may be exchanged, so those outside of two arrays in
// one band have to be a subset one of the other. For given places, transfers, bytes and memory are
// posynomials in the tile sizes: a geometric program, whose optimum over real tiles NLopt's SLSQP
// finds. Places are chosen by branch and bound, the largest array first; an array without a place
// counts once and holds nothing.
#pragma once

#include <limits>
#include <optional>

#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/subtrees.hpp"

namespace tcsim::fusion {

// A disk, by what it takes to move bytes.
struct Disk {
  BytesPerSecond read{2e9}, write{1e9};
  Seconds transfer{1e-4};  // of each one, before its first byte

  Seconds time(const DiskTraffic::OfArray& moved) const;
};

struct Limits {
  Bytes memory;  // buffers of tiles together
  Buffering buffering = Buffering::single;
  Disk disk;
};

struct Placement {
  std::optional<FusedNode> node;  // none where no tiles fit, or nothing is below the cut-off
  DiskTraffic traffic;            // of node
  Seconds time{std::numeric_limits<double>::infinity()};
  // No places and tiles of this structure take less; infinite where none fit.
  Seconds bound{std::numeric_limits<double>::infinity()};
  int solved = 0;  // geometric programs
};

// Of a chain of statements, which read from disk what other statements make. `structure` may be any
// of them, not only a maximally fused one. Places that are proven not to be below `cut_off` are not
// looked at. Heeds StopScope.
Placement place(const OperationTree& tree, const LoopTree& structure, const Limits& limits,
                Seconds cut_off = Seconds(std::numeric_limits<double>::infinity()));

// What the statements of a chain move at least: what they read from disk and write there, once.
Seconds compulsory(const OperationTree& tree, const std::vector<int>& chain, const Disk& disk);

// The memory that the structure takes with tiles of one.
Bytes least_memory(const OperationTree& tree, const LoopTree& structure, Buffering buffering);

}  // namespace tcsim::fusion
