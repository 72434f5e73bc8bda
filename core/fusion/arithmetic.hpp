// How long the statements of a fused schedule compute, on tiles that are in memory.
#pragma once

#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::fusion {

// The largest tile on which each statement runs, an extent for each of its indices.
std::vector<std::vector<std::int64_t>> tiles_of(const OperationTree& tree, const FusedNode& node);

// By statement: its multiply-adds at the rate that the optimizer predicts for its largest tile. The
// schedule must have passed check(). Throws as optimize() does; heeds StopScope.
std::vector<Seconds> arithmetic(const OperationTree& tree, const FusedNode& node,
                                const Machine& machine);

}  // namespace tcsim::fusion
