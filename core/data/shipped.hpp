// Files that ship with tcsim: machines/*.toml and data/*.toml. They are looked for in
// $TCSIM_DATA_DIR; otherwise in ../share/tcsim as seen from the running program, for programs in a
// build tree in its source tree, and where tcsim was configured to be installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tcsim {

// Folder that holds machines/ and data/. Throws InputError, with the places that were tried,
// if there is none.
std::filesystem::path data_dir();

// Where a module in somebody else's program has them: asked before the places beside that program.
// Before any other thread asks.
void look_for_data_in(std::filesystem::path folder);

std::vector<std::string> shipped_machines();  // sorted names, such as "e5-2680v4"
std::vector<std::string> shipped_suites();    // sorted names, such as "tccg"
std::vector<std::string> shipped_chains();    // sorted names, such as "fourindex"

// The file of a shipped name, or of a path. Throws UsageError that lists the names if it is
// neither.
std::filesystem::path find_machine_file(const std::string& name_or_file);
std::filesystem::path find_suite_file(const std::string& name_or_file);
std::filesystem::path find_chain_file(const std::string& name_or_file);

}  // namespace tcsim
