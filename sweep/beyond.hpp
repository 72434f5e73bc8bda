// What a study does with a point beyond the model. Internal to sweep/.
#pragma once

#include <stop_token>

#include "core/study/evaluate.hpp"

namespace tcsim {

// Simulates, and runs on this machine, as far as the study asks for it. Runs of several threads
// wait for one another.
Further beyond(const Study& study, std::stop_token stop);

}  // namespace tcsim
