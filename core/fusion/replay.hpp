// The exact simulation of a fused schedule: every transfer done and counted one after another. It
// agrees with traffic(), which knows nothing of it.
#pragma once

#include "core/fusion/fused_schedule.hpp"

namespace tcsim::fusion {

// The schedule must have passed check(). Heeds StopScope. Throws TooLargeError.
DiskTraffic replay(const OperationTree& tree, const FusedNode& node,
                   Buffering buffering = Buffering::single);

}  // namespace tcsim::fusion
