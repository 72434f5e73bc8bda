// What tcsim whatif answers, of a request without options. For the command line and for the Python
// module.
#pragma once

#include <string>
#include <vector>

#include "cli/whatif.hpp"
#include "core/explore/curve.hpp"

namespace tcsim::cli {

// None, one or two of --vary. Throws UsageError for more, for one knob twice, and what
// parse_knob_range() throws.
std::vector<KnobRange> knob_ranges(const std::vector<std::string>& vary, const Machine& machine);

// Explores `w`, which has workload, machine and ranges; interrupted, with what there is.
// `options.fixed` is the schedule that is kept, if any.
void explore(WhatIf& w, ExploreOptions options);

}  // namespace tcsim::cli
