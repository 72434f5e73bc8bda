// The microkernels alone, operands in the first cache, and the catalog in which their speeds are
// kept for schedules that are composed of several (core/machine/kernel_catalog.hpp).
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/machine/kernel_catalog.hpp"
#include "core/units/quantity.hpp"
#include "kernels/instruction_set.hpp"

namespace tcsim::bench {

struct KernelOptions {
  std::vector<InstructionSet> sets{best_instruction_set()};  // those that do not run are left out
  std::vector<KernelScheme> schemes{all_kernel_schemes.begin(), all_kernel_schemes.end()};
  int repetitions = 5;
  Seconds at_least{0.001};  // of one repetition
  std::function<void(const std::string& what, double share)> progress;
  std::stop_token stop;
};

// The first data cache of a core as the operating system has it; 32 KiB where it does not say.
Bytes first_cache();

// Every register tile of these instruction sets in both types, for several k from 4 up whose
// operands and result fit the first cache. Throws Interrupted.
KernelCatalog measure_kernels(const KernelOptions& options, const std::string& tcsim_version);

// Beside the host's machine file: kernels.toml. Empty without a home folder.
std::filesystem::path kernel_catalog_file();
// The catalog in it. Throws InputError where there is none, where it cannot be read, and where it
// is of another processor or first cache, or has no kernel of the best instruction set here.
KernelCatalog host_kernel_catalog();
KernelCatalog load_kernel_catalog(const std::filesystem::path& file);

}  // namespace tcsim::bench
