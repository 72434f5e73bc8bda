#include "bench/module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "core/data/installed.hpp"

namespace tcsim::bench {

void* load_module(const std::string& name) {
  std::vector<std::filesystem::path> folders;
  if (const auto beside = beside_program(TCSIM_MODULES_FROM_PROGRAM)) folders.push_back(*beside);
  if (program_lies_in(TCSIM_MODULES_BUILD_DIR "/..")) {
    folders.emplace_back(TCSIM_MODULES_BUILD_DIR);
  }
  for (const auto& folder : folders) {
    const std::string file = (folder / (name + ".so")).string();
    if (void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return module;
  }
  return nullptr;
}

}  // namespace tcsim::bench
