// Traffic between the registers and the innermost level: elements that kernels and packs load and
// store, which depends on visit counts alone. Shared by all models.
#pragma once

#include "core/model/nest.hpp"
#include "core/model/traffic.hpp"

namespace tcsim {

LinkTraffic core_link(const Nest& nest, Bytes element);

}  // namespace tcsim
