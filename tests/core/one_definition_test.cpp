// A type's name is defined once in its namespace, in whatever folder: programs link them together,
// and the linker keeps one copy of what both instantiate, with the size of one of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/source_dir.hpp"

namespace {

namespace fs = std::filesystem;

// Types that a header defines outside other types: "tcsim::sim::Level". Such a definition begins
// in the first column, as clang-format leaves it; what is declared or specialised only does not
// count.
std::vector<std::string> types_of(std::istream& header) {
  std::vector<std::string> found;
  std::string line, scope;
  while (std::getline(header, line)) {
    std::istringstream words(line);
    std::string first, name;
    words >> first >> name;
    if (line.starts_with("namespace ")) scope = name;
    const bool is_enum = line.starts_with("enum class ");
    if (!is_enum && !line.starts_with("struct ") && !line.starts_with("class ")) continue;
    if (is_enum) words >> name;
    if (line.back() == ';' && line.find('{') == std::string::npos) continue;
    if (name.find('<') == std::string::npos) found.push_back(scope + "::" + name);
  }
  return found;
}

TEST(One_definition, Types_are_found_with_their_namespace) {
  std::istringstream header(
      "namespace tcsim::sim {\n"
      "struct Level;\n"
      "struct Level {\n  struct Inner {\n  };\n};\n"
      "enum class Order { by_way };\n"
      "class System : public Base {\n"
      "template <>\nstruct hash<Level> {\n");
  EXPECT_EQ(types_of(header), (std::vector<std::string>{"tcsim::sim::Level", "tcsim::sim::Order",
                                                        "tcsim::sim::System"}));
}

TEST(One_definition, No_two_headers_define_the_same_type) {
  const fs::path root = TCSIM_SOURCE_DIR;
  std::map<std::string, std::string> places;
  for (const char* folder : {"core", "exchange", "sim", "kernels", "emit", "microbench", "bench",
                             "sweep", "cli", "gui"}) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".hpp") continue;
      std::ifstream text(entry.path());
      ASSERT_TRUE(text) << entry.path();
      const std::string file = fs::relative(entry.path(), root).generic_string();
      for (const std::string& type : types_of(text)) {
        const auto [place, is_new] = places.emplace(type, file);
        EXPECT_TRUE(is_new) << type << " is defined in " << place->second << " and in " << file;
      }
    }
  }
  EXPECT_GT(places.size(), 100u);  // otherwise this looked in the wrong place
}

}  // namespace
