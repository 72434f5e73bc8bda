#include "core/data/installed.hpp"

#include <algorithm>
#include <system_error>

namespace tcsim {

namespace fs = std::filesystem;

std::optional<fs::path> program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error || !program.is_absolute()) return {};
  return program.parent_path();
}

std::optional<fs::path> beside_program(const fs::path& from_program) {
  const auto folder = program_folder();
  if (!folder) return {};
  return (*folder / from_program).lexically_normal();
}

bool program_lies_in(const fs::path& folder) {
  const auto program = program_folder();
  if (!program) return false;
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(folder, ignored);
  return std::mismatch(whole.begin(), whole.end(), program->begin(), program->end()).first ==
         whole.end();
}

}  // namespace tcsim
