// check() with a place for every part, so that errors in a machine file name the line of the part
// that is wrong and not only the file. Internal to core/machine.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

struct MachinePlaces {
  std::string machine;
  std::string core;
  std::vector<std::string> levels;  // one for each level
};

// As check() in core/machine/machine.hpp.
void check_at(const Machine& machine, const MachinePlaces& places);

}  // namespace tcsim
