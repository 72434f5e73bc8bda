// The caches of a machine in pycachesim's words, which kerncraft uses too. Internal to exchange/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim::exchange {

struct PycachesimCache {
  std::string name;
  std::int64_t sets = 0, ways = 0;
  Bytes line;
  std::string policy;
  bool write_allocate = true, write_back = true;
  std::string load_from, store_to, victims_to;  // "": memory, or no victim cache

  // Keys and values as YAML writes them, but for quotes; links that are "" are left out.
  std::vector<std::pair<std::string, std::string>> fields() const;
};

// Throws UnsupportedError in the name of `format` for what pycachesim cannot say.
std::vector<PycachesimCache> pycachesim_chain(const Machine& machine, const std::string& format);

}  // namespace tcsim::exchange
