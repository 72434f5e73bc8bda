// The global level in windows of MPI-3: one window for all tiles, open for the whole run.
#pragma once

#include <memory>

#include "chains/levels/global_memory.hpp"

namespace tcsim::chains {

// Collective. Never called without MPI, where a team has one process. `direct`: all processes are
// on one computer, and get and put copy between their memories without MPI, which takes ten times
// as long where neighbours are few. What several add to at the same time is MPI's in any case.
template <class T>
std::unique_ptr<GlobalMemory<T>> windows(const Processes& team, std::int64_t elements, bool direct);

}  // namespace tcsim::chains
