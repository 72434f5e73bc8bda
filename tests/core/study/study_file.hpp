// Studies as texts.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/study/study.hpp"
#include "tests/scratch.hpp"
#include "tests/source_dir.hpp"

namespace tcsim {

inline Study study_of(const std::string& text) {
  return parse_study(text, "study.toml", shipped_sources("study.toml"));
}

inline std::string file_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline Study small_study() {
  const std::filesystem::path file =
      std::filesystem::path(TCSIM_SOURCE_DIR) / "tests/sweep/small.toml";
  return parse_study(file_text(file), file.string(), shipped_sources(file));
}

// A folder that goes away with the test.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(test::scratch(name)) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tcsim
