// Traffic between the registers and the innermost level: elements that kernels and packs load and
// store, which depends on visit counts alone and is exact. Shared by all models.
#pragma once

#include <string>

#include "core/model/nest.hpp"
#include "core/model/traffic.hpp"

namespace tcsim {

// `nest` is one of the contraction, `innermost` the name of the level that the link leads to.
// Throws TooLargeError (core/model/countable.hpp).
LinkTraffic core_link(const Contraction& contraction, const Nest& nest,
                      const std::string& innermost);

}  // namespace tcsim
