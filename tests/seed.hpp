// Seeds of tests that draw anew each time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace tcsim::test {

// Another one in each run, printed; with TCSIM_SEED=N in the environment N, to draw the same again.
inline std::uint64_t new_seed() {
  const char* given = std::getenv("TCSIM_SEED");
  const std::uint64_t seed = given ? std::stoull(given) : std::random_device{}();
  std::cout << "seed " << seed << "\n";
  return seed;
}

}  // namespace tcsim::test
