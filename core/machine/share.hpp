// Several cores at work at the same time, each on a contraction of its own: what one of them has.
#pragma once

#include "core/machine/machine.hpp"

namespace tcsim {

// The machine that one of `machine.core.cores` cores sees; the model, the optimizer and the
// simulator apply it, so that everything else can hold the whole machine.
//
// - A cache that min(cores, shared_by) of them share has that share of its capacity: sets are
//   divided, ways stay (acmtc-sc19, section 6: "a capacity of 1/14 of the per-socket L3"). Sets are
//   rounded to the nearest whole number, at least one; of a fully associative cache, ways.
// - Bandwidths are those of the file, unless the level has Load-FMA-Store measurements on so many
//   cores: then the median of the best of them, over the number of cores. Elements of 8 bytes
//   come first where both were measured. A link never comes out faster than the one inside it.
// - With one core, and applied again, it changes nothing.
Machine view_of_one_core(const Machine& machine);

// The measurement whose median that takes for a level; nullptr if there is none on so many cores.
const BandwidthSeries* series_of_cores(const Level& level, int cores);

}  // namespace tcsim
