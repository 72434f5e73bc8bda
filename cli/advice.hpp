// What would help a workload on a machine (core/explore/advice.hpp), as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/explore/advice.hpp"

namespace tcsim::cli {

// Empty where nothing is known: null.
nlohmann::ordered_json json_of(const std::optional<Uncertainty>& sure);
nlohmann::ordered_json json_of(const Crossover& crossover);
nlohmann::ordered_json json_of(const std::vector<LargerCache>& caches);
// A list, one for each knob.
nlohmann::ordered_json json_of(const Elasticities& elasticities);
nlohmann::ordered_json json_of(const Advice& advice);

}  // namespace tcsim::cli
