#include "microbench/keep.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

#include "core/error.hpp"
#include "core/io/new_file.hpp"
#include "core/machine/toml.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

std::optional<Machine> kept(const fs::path& file) {
  std::error_code error;
  if (file.empty() || !fs::is_regular_file(file, error)) return {};
  try {
    return load_machine(file);
  } catch (const Error&) {
    return {};  // damaged, or of another version: measured anew and overwritten
  }
}

}  // namespace

bool keep(const std::string& text, const fs::path& file) {
  if (file.empty()) return false;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  try {
    replace_file(file, text);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

bool keep(const Machine& machine, const fs::path& file) { return keep(to_toml(machine), file); }

Machine kept_or_probed(const fs::path& file, const std::function<bool(const Machine&)>& fits,
                       const std::function<Machine()>& probe) {
  if (const auto machine = kept(file); machine && fits(*machine)) return *machine;
  const Machine machine = probe();
  keep(machine, file);
  return machine;
}

}  // namespace tcsim
