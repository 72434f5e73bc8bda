// Machines that the window model does not know, and those like them that it does.
#pragma once

#include <string>

#include "core/machine/machine.hpp"

namespace tcsim {

// Why the model does not know the machine; empty if it does.
std::string gap_of_model(const Machine& machine);

// A machine of the same size that the model knows, to choose a schedule by: LRU, write-back and
// write-allocate, without prefetchers and victim caches, one length of line.
Machine modelled(Machine machine);

// The machine where the model knows it, otherwise one of the same size.
Machine known_to_model(const Machine& machine);

}  // namespace tcsim
