// The program of a chain that takes the least time of disk and memory under a limit of memory:
// which intermediates go to disk (cut-points), and how the statements between them are fused, by
// dynamic programming over the operation tree (Gao et al., Algorithm 4).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/fusion/placement.hpp"

namespace tcsim::fusion {

// A fused subtree and how it is done.
struct FusedPart {
  FusedSubtree subtree;
  LoopTree structure;
  Placement placement;
};

struct FusedProgram {
  std::vector<FusedPart> parts;  // in the order in which they run
  FusedNode node;                // all of them
  DiskTraffic traffic;
  Seconds time;  // Costs::all() of it
  // What stands between the parts, and no program with these cut-points takes less.
  std::vector<int> cut_points;  // statements whose intermediate goes to disk
  Seconds bound;

  double gap() const { return time.value() / bound.value() - 1; }
};

struct Fusion {
  FusedProgram chosen;                      // its bound holds for every program of the family
  FusedProgram unfused;                     // every intermediate goes to disk
  std::optional<FusedProgram> fully_fused;  // none does; nothing where that cannot be, or not fit
};

struct FuseOptions {
  Limits limits;
  std::function<void(double share)> progress;  // may be empty
  // Statements of a fused subtree. Longer ones have too many structures for all to be looked at:
  // of each block of statements some are kept.
  std::size_t all_structures_up_to = 6;
};

// Throws UnsupportedError where even tiles of one do not fit, with the least memory that would do.
// Heeds StopScope.
Fusion fuse(const OperationTree& tree, const FuseOptions& options);
// One of its programs alone.
FusedProgram chosen_program(const OperationTree& tree, const FuseOptions& options);
FusedProgram unfused_program(const OperationTree& tree, const Limits& limits);

// With which each statement alone fits, with tiles of one.
Bytes least_memory(const OperationTree& tree, Buffering buffering);

}  // namespace tcsim::fusion
