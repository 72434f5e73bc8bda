// tcsim bounds --curve: the bounds of a workload over the capacity of the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bounds_numbers.hpp"
#include "cli/command.hpp"
#include "cli/request.hpp"
#include "core/bounds/lower.hpp"

namespace tcsim::cli {

// "16KiB..64MiB", or with so many points "16KiB..64MiB:13"; otherwise one for each doubling, and
// the upper end.
std::vector<std::int64_t> curve_capacities(const std::string& text, Bytes element);

Exit run_bounds_curve(const Options& options, const std::vector<Contraction>& workloads,
                      bounds::Moves moves, Context& context);

}  // namespace tcsim::cli
