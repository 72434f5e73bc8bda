// What would help a workload on a machine: how much each knob changes, where the strongest one
// moves the bottleneck, in words and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/curve.hpp"
#include "core/explore/elasticity.hpp"
#include "core/explore/verdict.hpp"

namespace tcsim::cli {

struct Advice {
  Elasticities elasticities;
  std::optional<Crossover> next;  // of the strongest knob
  std::vector<LargerCache> caches;
  std::string words;
};

// Options as for curve(). Interrupted, throws.
Advice advice(const Contraction& contraction, const Machine& machine,
              const ExploreOptions& options);

nlohmann::ordered_json json_of(const Crossover& crossover);
nlohmann::ordered_json json_of(const std::vector<LargerCache>& caches);
// A list, one for each knob.
nlohmann::ordered_json json_of(const Elasticities& elasticities);
nlohmann::ordered_json json_of(const Advice& advice);

}  // namespace tcsim::cli
