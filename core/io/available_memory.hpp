// What this process may still have of the machine's memory. Whoever needs much compares first: a
// system that hands out more than it has ends a process later, without a word.
#pragma once

#include <filesystem>
#include <string>

#include "core/units/quantity.hpp"

namespace tcsim {

// Without swapping, by the kernel's own estimate, and by what the process's control groups
// (version 2) leave, as those of a container do; unlimited if they keep silent.
Bytes available_memory();

// The same of files in other places, for tests.
Bytes available_memory(const std::filesystem::path& proc, const std::filesystem::path& groups);

// Throws UnsupportedError where fewer than `bytes` are available: "PLACE: WHAT need 3 TiB, this
// machine has 20 GiB available; MEND"; `parts` of it stand behind it in parentheses. Small needs
// are not compared.
void require_available(double bytes, const std::string& place, const std::string& what,
                       const std::string& mend, const std::string& parts = "");

}  // namespace tcsim
