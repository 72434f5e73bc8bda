// What is installed together is found from where the running program lies, so that a prefix can be
// anywhere and be moved.
#pragma once

#include <filesystem>
#include <optional>

namespace tcsim {

// Folder of the running program, with links followed: PREFIX/bin. Empty where the system does not
// tell.
std::optional<std::filesystem::path> program_folder();

// `from_program` is relative to that folder: "../share/tcsim". It need not exist.
std::optional<std::filesystem::path> beside_program(const std::filesystem::path& from_program);

// The running program lies somewhere under `folder`.
bool program_lies_in(const std::filesystem::path& folder);

}  // namespace tcsim
