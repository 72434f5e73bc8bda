// What would help a workload on a machine: how much each knob changes, where the strongest one
// moves the bottleneck, what larger caches bring, and all of it in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/curve.hpp"
#include "core/explore/elasticity.hpp"
#include "core/explore/verdict.hpp"

namespace tcsim {

struct Advice {
  Elasticities elasticities;
  std::optional<Crossover> next;  // of the strongest knob
  std::vector<LargerCache> caches;
  std::string words;
};

// Options as for curve(). Interrupted, throws.
Advice advice(const Contraction& contraction, const Machine& machine,
              const ExploreOptions& options);

}  // namespace tcsim
