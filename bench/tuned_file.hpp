// Where tuned schedules are kept: tuned.toml beside the host's machine file.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "core/saved/tuned.hpp"

namespace tcsim::bench {

// Empty without a home folder.
std::filesystem::path tuned_file();

// Of this processor and the instruction set that its kernels use.
TunedKey tuned_key_here(const Contraction& contraction, int threads);

// None where the file is not there. Throws InputError for one that cannot be read.
TunedSchedules load_tuned(const std::filesystem::path& file);

// Reads the file, changes what it says and writes it as a whole. Processes that do so at the same
// time wait for one another, so that none loses what another wrote. Returns whether it was written:
// not where there is no folder, or it may not be written. Throws InputError as load_tuned() does.
bool change_tuned(const std::filesystem::path& file,
                  const std::function<void(TunedSchedules&)>& change);

// Without reading it. Returns whether it was there.
bool forget_all_tuned(const std::filesystem::path& file);

}  // namespace tcsim::bench
