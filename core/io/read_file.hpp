// Input files, read as a whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace tcsim {

// No file that tcsim reads as a whole comes near it.
inline constexpr std::size_t most_file_bytes = std::size_t{64} << 20;

// The bytes of a regular file or of a pipe, such as a shell's <(...). Throws InputError with the
// file as its place and `mend` where it cannot be read, is a folder, a device or a pipe that nobody
// writes to, or has more than `most` bytes.
std::string read_file(const std::filesystem::path& file, const std::string& mend,
                      std::size_t most = most_file_bytes);

}  // namespace tcsim
