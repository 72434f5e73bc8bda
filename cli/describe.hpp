// What every record about a workload on a machine says of the two, in words and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/machine/machine.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::cli {

nlohmann::ordered_json json_of(const Contraction& workload);
nlohmann::ordered_json json_of(const Accounting& accounting);

// "honest (bytes in and out, packing counted, compute roof)".
std::string to_words(const Accounting& accounting);

// The two lines that a table begins with; `more` ends the second.
std::string heading(const Contraction& workload, const Machine& machine, const std::string& more);

}  // namespace tcsim::cli
