// A small text file beside the host's machine file that processes change at the same time, none
// losing what another wrote.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tcsim::bench {

// nullopt where it is not there. Throws InputError, with this mend, for one that cannot be read.
std::optional<std::string> kept_text(const std::filesystem::path& file, const char* mend);

// Reads it, changes what it says and writes it as a whole; who else does so waits. Returns whether
// it was written: not where there is no folder, or it may not be written.
bool change_text(
    const std::filesystem::path& file, const char* mend,
    const std::function<std::string(const std::optional<std::string>& before)>& change);

// Without reading it. Returns whether it was there.
bool forget_text(const std::filesystem::path& file);

}  // namespace tcsim::bench
