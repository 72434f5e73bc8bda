// tcsim bounds --curve: the bounds of a workload over the capacity of the store.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/request.hpp"
#include "core/bounds/lower.hpp"

namespace tcsim::cli {

// A bare number counts elements, a size with a unit bytes. At least one; `option` stands in errors.
std::int64_t elements_of(const std::string& text, Bytes element, const std::string& option);

// A lower bound, rounded to no more than it is where a double does not hold it.
std::string lower_text(long double elements);
nlohmann::ordered_json lower_json(long double elements);

// "16KiB..64MiB", or with so many points "16KiB..64MiB:13"; otherwise one for each doubling, and
// the upper end.
std::vector<std::int64_t> curve_capacities(const std::string& text, Bytes element);

Exit run_bounds_curve(const Options& options, const std::vector<Contraction>& workloads,
                      bounds::Moves moves, Context& context);

}  // namespace tcsim::cli
