#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

inline std::vector<std::string> level_names(const Machine& m) {
  std::vector<std::string> names;
  for (const Level& l : m.levels) names.push_back(l.name);
  return names;
}

}  // namespace tcsim
