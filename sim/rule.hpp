// Rules of caches that a machine file does not have, by their text.
#pragma once

#include <string>

#include "sim/system.hpp"

namespace tcsim::sim {

// "L2.write_back_miss=pass": LEVEL.RULE=VALUE, as `tcsim simulate --rule` takes it
// (docs/simulator.md). Throws UsageError for a level, a rule or a value that is not known.
void apply_rule(const std::string& rule, SystemConfig& config);

}  // namespace tcsim::sim
