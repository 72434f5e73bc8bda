// What exports to cycle-level simulators share. Internal to exchange/.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim::exchange {

// The caches of a machine, where all of them are write-back and write-allocate, without victim
// caches, with plain indices and lines of one length. Throws UnsupportedError otherwise, in the
// name of `format`, with the knob that leaves it out.
std::vector<const Level*> usual_caches(const Machine& machine, const std::string& format);

// Adds what stands in no configuration of a simulator: series, origins, and so on.
void lose_the_rest(std::vector<std::string>& lost, const Machine& machine);

}  // namespace tcsim::exchange
