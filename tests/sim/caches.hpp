// Plain caches for tests of simulations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/config.hpp"

namespace tcsim::test {

// L1, L2, ... of so many sets and ways.
inline sim::SystemConfig caches(std::vector<std::pair<std::int64_t, std::int64_t>> shapes) {
  sim::SystemConfig config;
  config.name = "test";
  for (const auto& [sets, ways] : shapes) {
    sim::LevelConfig level;
    level.name = "L" + std::to_string(config.levels.size() + 1);
    level.sets = sets;
    level.ways = ways;
    config.levels.push_back(level);
  }
  return config;
}

}  // namespace tcsim::test
