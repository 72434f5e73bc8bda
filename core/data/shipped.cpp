#include "core/data/shipped.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/data/installed.hpp"
#include "core/error.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

bool holds_data(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "machines", ignored) &&
         fs::is_directory(folder / "data", ignored);
}

std::optional<fs::path>& of_module() {
  static std::optional<fs::path> folder;
  return folder;
}

// In the order in which they are tried.
std::vector<fs::path> data_places() {
  std::vector<fs::path> all;
  if (of_module()) all.push_back(*of_module());
  if (const auto beside = beside_program(TCSIM_DATA_FROM_PROGRAM)) all.push_back(*beside);
  // An installed program that took a source tree's files would change with it, or fail without it.
  if (program_lies_in(TCSIM_BUILD_DIR)) all.emplace_back(TCSIM_SOURCE_DATA_DIR);
  // For programs elsewhere that link tcsim's libraries.
  if (std::ranges::find(all, TCSIM_INSTALL_DATA_DIR) == all.end()) {
    all.emplace_back(TCSIM_INSTALL_DATA_DIR);
  }
  return all;
}

// "not in /opt/share/tcsim, not in /usr/local/share/tcsim"
std::string places_tried() {
  std::string text;
  for (const fs::path& place : data_places()) {
    text += (text.empty() ? "not in " : ", not in ") + place.string();
  }
  return text;
}

std::optional<fs::path> find_data_dir() {
  // A folder that the user names is meant: do not fall back from it in silence.
  if (const char* named = std::getenv("TCSIM_DATA_DIR"); named != nullptr && *named != '\0') {
    if (holds_data(named)) return named;
    throw InputError(named, "TCSIM_DATA_DIR has no folders machines and data",
                     "set it to the folder that holds them, or unset it");
  }
  for (const fs::path& folder : data_places()) {
    if (holds_data(folder)) return folder;
  }
  return {};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A shipped file by its name; a shipped name wins over a file of that name in the current folder.
// A file given by its path works without the shipped ones.
fs::path find_file(const std::string& name_or_file, const char* folder, const char* what) {
  const std::optional<fs::path> data = find_data_dir();
  std::vector<std::string> names;
  if (data) names = names_in(*data / folder);
  if (std::find(names.begin(), names.end(), name_or_file) != names.end()) {
    return *data / folder / (name_or_file + ".toml");
  }
  std::error_code ignored;
  if (fs::exists(name_or_file, ignored)) return name_or_file;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  if (!data) {
    throw UsageError("'" + name_or_file + "'",
                     "no such file, and the shipped " + std::string(folder) + " are not found (" +
                         places_tried() + ")",
                     "set TCSIM_DATA_DIR to the folder that holds machines and data, or give the "
                     "path of a file");
  }
  throw UsageError("'" + name_or_file + "'", std::string("no such ") + what,
                   "give the path of a file or a shipped name: " + known);
}

}  // namespace

fs::path data_dir() {
  if (const auto found = find_data_dir()) return *found;
  throw InputError("the files that ship with tcsim", "not found (" + places_tried() + ")",
                   "install tcsim again, or set TCSIM_DATA_DIR to the folder that holds machines "
                   "and data");
}

void look_for_data_in(fs::path folder) { of_module() = std::move(folder); }

std::vector<std::string> shipped_machines() { return names_in(data_dir() / "machines"); }
std::vector<std::string> shipped_suites() { return names_in(data_dir() / "data"); }
std::vector<std::string> shipped_chains() { return names_in(data_dir() / "data" / "chains"); }

fs::path find_machine_file(const std::string& name_or_file) {
  return find_file(name_or_file, "machines", "machine");
}

fs::path find_suite_file(const std::string& name_or_file) {
  return find_file(name_or_file, "data", "suite");
}

fs::path find_chain_file(const std::string& name_or_file) {
  return find_file(name_or_file, "data/chains", "suite of chains");
}

}  // namespace tcsim
