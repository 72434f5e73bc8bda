// Points of a study whose workloads are chains on explicit levels (core/levels).
#pragma once

#include <optional>

#include "core/study/evaluate.hpp"

namespace tcsim {

// Why a design of a study of chains is left out: no hierarchy is like that, a chain does not fit,
// or the schedule that is kept does not.
std::optional<LeftOut> lack_of_room(const Study& study, Anchors& anchors,
                                    const DesignPoint& design);

}  // namespace tcsim
