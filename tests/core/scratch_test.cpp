// Tests make their files where tests/scratch.hpp says, so that no two of them share a name.
#include "tests/scratch.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "tests/source_dir.hpp"

namespace {

namespace fs = std::filesystem;

TEST(Scratch, No_other_test_asks_for_the_folder_of_temporary_files) {
  const std::string names[] = {std::string("temp_directory") + "_path",
                               std::string("Temp") + "Dir("};
  std::vector<std::string> found;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(fs::path(TCSIM_SOURCE_DIR) / "tests")) {
    const std::string kind = entry.path().extension().string();
    if ((kind != ".cpp" && kind != ".hpp") || entry.path().filename() == "scratch.hpp") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const std::string& name : names) {
      if (text.find(name) != std::string::npos) found.push_back(entry.path().string());
    }
  }
  EXPECT_EQ(found, std::vector<std::string>{});
}

TEST(Scratch, Is_of_this_process) {
  EXPECT_NE(tcsim::test::scratch("a").string().find(std::to_string(getpid())), std::string::npos);
}

}  // namespace
