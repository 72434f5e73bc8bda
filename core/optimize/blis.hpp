// Block sizes as BLIS has them for matrix multiplication with a given microkernel, from the caches'
// geometry alone: Low, Igual, Smith, Quintana-Orti, "Analytical Modeling Is Enough for
// High-Performance BLIS", ACM TOMS 43(2), 2016. For a schedule of a given contraction, chosen by
// the traffic that it causes, see optimize().
#pragma once

#include <optional>
#include <string>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// A mr x kc panel of A and a kc x nr panel of B lie in L1, a mc x kc block of A in L2, a kc x nc
// block of B in L3.
struct BlisBlocks {
  Elements mr, nr;
  Elements kc;
  std::optional<Elements> mc;  // a multiple of mr; empty without a second cache
  std::optional<Elements> nc;  // a multiple of nr; empty without a third cache

  bool operator==(const BlisBlocks&) const = default;
};

// kc is by the paper's equations 4 to 6, mc and nc by the same argument for the next caches: of the
// ways of each set one is for C, the panel that streams past has those that it fills, and the block
// has the rest. Throws UnsupportedError if the innermost level is no cache.
BlisBlocks blis_blocks(const Machine& machine, const Kernel& kernel, ElementType type);

// As lines of a configuration of BLIS: bli_blksz_init_easy( &blkszs[ BLIS_MC ], ... ).
std::string to_blis(const BlisBlocks& blocks, ElementType type, const std::string& machine);

}  // namespace tcsim
