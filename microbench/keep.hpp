// A machine file that is kept so that it need not be measured again.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/machine/machine.hpp"

namespace tcsim {

// The machine in `file` if that can be read and `fits`; otherwise `probe()`, which is then kept.
// An empty path, or a folder that cannot be written, keeps nothing.
Machine kept_or_probed(const std::filesystem::path& file,
                       const std::function<bool(const Machine&)>& fits,
                       const std::function<Machine()>& probe);

// Writes the text so that a reader sees the old file or the new one, never a part. Returns whether
// it was written.
bool keep(const std::string& text, const std::filesystem::path& file);
bool keep(const Machine& machine, const std::filesystem::path& file);

}  // namespace tcsim
