// Plans a chain so that its run keeps a limit of memory: tiles get what packed operands, tables and
// files leave, which in turn depend on the tiles.
#pragma once

#include <functional>
#include <optional>

#include "chains/run_chain.hpp"
#include "core/fusion/fuse.hpp"

namespace tcsim::chains {

struct ChainPlan {
  fusion::Fusion fusion;
  fusion::Limits limits;  // of its tiles
  // Of runs of them, whose memory is at most the limit.
  RunFigures chosen, unfused;
  std::optional<RunFigures> fully_fused;
};

struct ChainPlanOptions {
  fusion::Limits limits;  // their memory is all that a run may take
  int threads = 1;
  LeafSchedules* leaves = nullptr;             // as of ChainRunOptions
  std::function<void(double share)> progress;  // may be empty
  bool cold = false;                           // runs are, as ChainRunOptions says
};

// Throws UnsupportedError where no run keeps the limit, with the least one that would do, and as
// fuse() and run_figures() do. Heeds StopScope.
ChainPlan plan_chain(const fusion::OperationTree& tree, const Machine& machine,
                     const ChainPlanOptions& options);

// The same under a limit of tiles alone: what runs take beside is told, and not limited.
ChainPlan plan_tiles(const fusion::OperationTree& tree, const Machine& machine,
                     const ChainPlanOptions& options);

}  // namespace tcsim::chains
