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

// Adds "warnings", a list of sentences, where predictions for the machine leave something out.
void add_warnings(nlohmann::ordered_json& record, const Machine& machine);
// The same as a line of a table, or "".
std::string warning_line(const Machine& machine);

// The two lines that a table begins with; `more` ends the second. A warning_line() follows.
std::string heading(const Contraction& workload, const Machine& machine, const std::string& more);

// What the core loses, in cycles (the last one a share): a line for each origin of the figures.
std::string overhead_lines(const Core& core);

}  // namespace tcsim::cli
