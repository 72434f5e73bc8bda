// Sweeps in this process, and all that they leave.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"

namespace tcsim {

inline SweepOptions into(const Folder& folder, int threads) {
  SweepOptions o;
  o.folder = folder.path();
  o.threads = threads;
  o.version = "test";
  return o;
}

// All that a folder has but for what tells host and time.
inline std::map<std::string, std::string> contents(const Folder& folder) {
  std::map<std::string, std::string> all;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = file.path().filename().string();
    all[name] = file_text(file.path());
    if (name != "manifest.json") continue;
    nlohmann::json j = nlohmann::json::parse(all[name]);
    j.erase("made");
    all[name] = j.dump();
  }
  return all;
}

}  // namespace tcsim
