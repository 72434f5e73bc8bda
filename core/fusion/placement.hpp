// Where a fused structure reads and writes disk, and its tiles (Gao et al., section 5.1, steps 3 to
// 5): the least time of disk and memory under a limit of memory, with a bound on what the structure
// could reach at all.
//
// All loops of a node are tiled and what is within a tile is looped over again below (multi-level
// tiling), so a node's band of loops is over all indices that its statements share. An array is
// read or written somewhere in the bands on the way to its statement: outside some loops of one
// band and inside the others. Loops of a band may be exchanged, so those outside of two arrays in
// one band have to be a subset one of the other. For given places, transfers, bytes and memory are
// posynomials in the tile sizes: a geometric program (core/optimize/posynomial_program.hpp). Places
// are chosen by branch and bound, the largest array first; an array without a place
// counts once and holds nothing. Of an array that is small beside the memory the best place alone
// is followed; the others count for the bound.
#pragma once

#include <limits>
#include <optional>

#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/subtrees.hpp"

namespace tcsim::fusion {

// What moving bytes takes.
struct Costs {
  BytesPerSecond read{2e9}, write{1e9};  // of the disk
  Seconds transfer{1e-4};                // of each transfer of a tile, before its first byte
  // Of memory: each time that a statement runs on a tile, its tensors pass the caches once. What a
  // tile that is larger than the caches takes beside is the arithmetic's.
  BytesPerSecond memory{1e10};
  Seconds run{1e-6};  // of each of those, before its first byte

  Seconds disk(const DiskTraffic::OfArray& moved) const;
  Seconds all(const DiskTraffic& moved) const;  // what is minimised: disk and memory
};

struct Limits {
  Bytes memory;  // buffers of tiles together
  Buffering buffering = Buffering::single;
  Costs costs;
};

struct Placement {
  std::optional<FusedNode> node;  // none where no tiles fit, or nothing is below the cut-off
  DiskTraffic traffic;            // of node
  Seconds time{std::numeric_limits<double>::infinity()};  // Costs::all() of it
  // No places and tiles of this structure take less; infinite where none fit.
  Seconds bound{std::numeric_limits<double>::infinity()};
};

// Geometric programs for one structure, at most about; what is then open counts for the bound.
inline constexpr int usual_programs = 200;

// Of a chain of statements, which read from disk what other statements make. `structure` may be any
// of them, not only a maximally fused one. Places that are proven not to be below `cut_off` are not
// looked at. Heeds StopScope.
Placement place(const OperationTree& tree, const LoopTree& structure, const Limits& limits,
                Seconds cut_off = Seconds(std::numeric_limits<double>::infinity()),
                int most_programs = usual_programs);

// What the statements of a chain take at least: what they read from disk and write there moves
// once, and all tensors pass the caches once.
Seconds compulsory(const OperationTree& tree, const std::vector<int>& chain, const Costs& costs);

// The memory that the structure takes with tiles of one.
Bytes least_memory(const OperationTree& tree, const LoopTree& structure, Buffering buffering);

}  // namespace tcsim::fusion
