// The global level in windows of MPI-3: one window for all tiles, open for the whole run.
#pragma once

#include <memory>

#include "chains/levels/global_memory.hpp"

namespace tcsim::chains {

// Collective. Never called without MPI, where a team has one process.
template <class T>
std::unique_ptr<GlobalMemory<T>> windows(const Processes& team, std::int64_t elements);

}  // namespace tcsim::chains
