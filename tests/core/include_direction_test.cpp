// core includes none of the other folders; exchange, sim, kernels, emit and microbench include core
// and themselves, and so does processes; chains includes core, kernels and processes, sweep core,
// sim, kernels and processes, bench the measuring ones, chains and processes; cli and gui include
// all but each other and python, and python all but gui.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/source_dir.hpp"

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> folders{"core",       "exchange",  "sim",   "kernels", "emit",
                                       "microbench", "bench",     "sweep", "cli",     "gui",
                                       "chains",     "processes", "python"};

bool is_folder(const std::string& name) {
  return std::find(folders.begin(), folders.end(), name) != folders.end();
}

bool may_include(const std::string& from, const std::string& to) {
  if (to == from || to == "core") return true;
  if (from == "bench") {
    return to == "sim" || to == "kernels" || to == "emit" || to == "microbench" || to == "chains" ||
           to == "processes";
  }
  if (from == "chains") return to == "kernels" || to == "processes";
  if (from == "sweep") return to == "sim" || to == "kernels" || to == "processes";
  if (from == "cli") return to != "gui" && to != "python";
  if (from == "python") return to != "gui";
  if (from == "gui") return to != "cli" && to != "python";
  return false;
}

std::string first_of(const fs::path& path) {
  return path.empty() ? std::string() : path.begin()->string();
}

// The folder that an include in `file` leads to, or "" if it leads out of tcsim. Both are relative
// to the root; an include that does not start at the root starts beside the file.
std::string target_of(const fs::path& file, const std::string& include) {
  const std::string direct = first_of(fs::path(include).lexically_normal());
  if (is_folder(direct)) return direct;
  const std::string beside = first_of((file.parent_path() / include).lexically_normal());
  return is_folder(beside) ? beside : "";
}

// What a line includes, with its opening quote or bracket: "\"core/error.hpp" or "<vector"; "" if
// it includes nothing. (g++ 12 warns of its own std::regex under sanitizers.)
std::string included(const std::string& line) {
  std::istringstream rest(line);
  char hash = 0, open = 0;
  std::string word;
  if (!(rest >> hash) || hash != '#') return "";
  while (rest >> std::ws && std::isalpha(rest.peek())) word += static_cast<char>(rest.get());
  if (word != "include" || !(rest >> open) || (open != '"' && open != '<')) return "";
  std::string path;
  std::getline(rest, path, open == '"' ? '"' : '>');
  return open + path;
}

// "file:line: core may not include sim" for every forbidden include of a text.
std::vector<std::string> forbidden(const fs::path& file, std::istream& text) {
  std::vector<std::string> found;
  const std::string from = first_of(file);
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::string include = included(line);
    if (include.empty()) continue;
    const bool quoted = include[0] == '"';
    include.erase(0, 1);
    // In angle brackets a path that does not start in one of our folders is a library's.
    if (!quoted && !is_folder(first_of(include))) continue;
    const std::string to = target_of(file, include);
    if (to.empty() || may_include(from, to)) continue;
    found.push_back(file.generic_string() + ":" + std::to_string(number) + ": " + from +
                    " may not include " + to);
  }
  return found;
}

std::vector<std::string> forbidden(const fs::path& file, const std::string& text) {
  std::istringstream stream(text);
  return forbidden(file, stream);
}

TEST(Include_direction, Forbidden_includes_are_found_with_file_and_line) {
  const std::vector<std::string> found = forbidden("core/model/a.cpp",
                                                   "#include \"core/error.hpp\"\n"
                                                   "#include <vector>\n"
                                                   "  #  include \"sim/simulate.hpp\"  // why\n"
                                                   "// #include \"gui/window.hpp\"\n"
                                                   "#include <kernels/execute.hpp>\n"
                                                   "#include \"../../cli/main.hpp\"\n");
  EXPECT_EQ(found, (std::vector<std::string>{"core/model/a.cpp:3: core may not include sim",
                                             "core/model/a.cpp:5: core may not include kernels",
                                             "core/model/a.cpp:6: core may not include cli"}));
}

TEST(Include_direction, Includes_beside_the_file_and_of_libraries_are_allowed) {
  EXPECT_TRUE(forbidden("core/units/a.cpp",
                        "#include \"text.hpp\"\n"
                        "#include \"../error.hpp\"\n"
                        "#include \"toml++/toml.h\"\n"
                        "#include <fmt/core.h>\n"
                        "#include <sim.h>\n"
                        "#pragma once\n"
                        "const char* s = \"#include <sim/a.hpp>\";\n")
                  .empty());
}

// Every pair of folders, row includes column, in the order of `folders`.
TEST(Include_direction, Rules_are_those_of_the_design) {
  const std::vector<std::string> allowed{
      "yes no  no  no  no  no  no  no  no  no  no  no  no  ",   // core
      "yes yes no  no  no  no  no  no  no  no  no  no  no  ",   // exchange
      "yes no  yes no  no  no  no  no  no  no  no  no  no  ",   // sim
      "yes no  no  yes no  no  no  no  no  no  no  no  no  ",   // kernels
      "yes no  no  no  yes no  no  no  no  no  no  no  no  ",   // emit
      "yes no  no  no  no  yes no  no  no  no  no  no  no  ",   // microbench
      "yes no  yes yes yes yes yes no  no  no  yes yes no  ",   // bench
      "yes no  yes yes no  no  no  yes no  no  no  yes no  ",   // sweep
      "yes yes yes yes yes yes yes yes yes no  yes yes no  ",   // cli
      "yes yes yes yes yes yes yes yes no  yes yes yes no  ",   // gui
      "yes no  no  yes no  no  no  no  no  no  yes yes no  ",   // chains
      "yes no  no  no  no  no  no  no  no  no  no  yes no  ",   // processes
      "yes yes yes yes yes yes yes yes yes no  yes yes yes "};  // python
  for (std::size_t from = 0; from < folders.size(); ++from) {
    for (std::size_t to = 0; to < folders.size(); ++to) {
      const auto found =
          forbidden(folders[from] + "/a.cpp", "#include \"" + folders[to] + "/b.hpp\"\n");
      EXPECT_EQ(found.empty(), allowed[from].substr(4 * to, 3) == "yes")
          << folders[from] << " includes " << folders[to];
    }
  }
}

// The rooms of core, floor by floor: each includes its own and those of floors below it.
const std::vector<std::vector<std::string>> floors{
    {"error.hpp", "hash.hpp", "stop.hpp", "threads.hpp"},
    {"text", "units"},
    {"data", "io"},
    {"machine", "workload"},
    {"schedule"},
    {"plan"},
    {"model"},
    {"optimize"},
    {"bounds", "explore", "saved"},
    {"fusion"},
    {"levels"},
    {"study"},
};

// -1 if it has none.
int floor_of(const std::string& room) {
  for (std::size_t i = 0; i < floors.size(); ++i) {
    if (std::ranges::find(floors[i], room) != floors[i].end()) return static_cast<int>(i);
  }
  return -1;
}

TEST(Include_direction, Rooms_of_core_include_those_of_floors_below_them) {
  const fs::path root = TCSIM_SOURCE_DIR;
  int rooms = 0;
  for (const fs::directory_entry& room : fs::directory_iterator(root / "core")) {
    if (!room.is_directory()) continue;
    ++rooms;
    const std::string from = room.path().filename().string();
    EXPECT_GE(floor_of(from), 0) << "core/" << from << " needs a floor";
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(room)) {
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        const std::string include = included(line);
        if (!include.starts_with("\"core/")) continue;
        const std::string to = first_of(fs::path(include.substr(6)));
        if (to == from) continue;
        EXPECT_LT(floor_of(to), floor_of(from)) << entry.path() << " includes " << include;
      }
    }
  }
  EXPECT_GT(rooms, 10);
}

TEST(Include_direction, All_sources_obey_it) {
  const fs::path root = TCSIM_SOURCE_DIR;
  std::vector<std::string> found;
  int core_files = 0;
  for (const std::string& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp") continue;
      core_files += folder == "core";
      std::ifstream text(entry.path());
      ASSERT_TRUE(text) << entry.path();
      const std::vector<std::string> more = forbidden(fs::relative(entry.path(), root), text);
      found.insert(found.end(), more.begin(), more.end());
    }
  }
  for (const std::string& place : found) ADD_FAILURE() << place;
  EXPECT_GT(core_files, 10);  // otherwise this looked in the wrong place
}

}  // namespace
