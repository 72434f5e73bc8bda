// Where a test's files are.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace tcsim::test {

// A path in the folder for temporary files. No other process has it: tests run at the same time,
// each in a process of its own, and so may two builds. Several processes that run one test together
// name one of them.
inline std::filesystem::path scratch(const std::string& name, std::int64_t process = getpid()) {
  return std::filesystem::temp_directory_path() / ("tcsim." + std::to_string(process) + "." + name);
}

}  // namespace tcsim::test
