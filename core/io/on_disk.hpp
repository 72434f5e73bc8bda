// What was written is on the disk, not only in the system's memory.
#pragma once

#include <filesystem>

namespace tcsim {

// Of an open file or folder, and by name. False where the disk does not do it, with errno. Some
// file systems have nothing to do for it and say so, which is true.
bool on_disk(int file);
bool on_disk(const std::filesystem::path& path);

}  // namespace tcsim
