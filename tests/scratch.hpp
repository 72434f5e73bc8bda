// Where a test's files are.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace tcsim::test {

// A path in the folder for temporary files. No other process has it: tests run at the same time,
// each in a process of its own, and so may two builds.
inline std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::temp_directory_path() /
         ("tcsim." + std::to_string(getpid()) + "." + name);
}

}  // namespace tcsim::test
