// Built with core/data/shipped.cpp of its own, for which the folders of shipped files that a
// build remembers do not exist: as if the program had been copied to another machine.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/workload/suite.hpp"
#include "tests/source_dir.hpp"

namespace tcsim {
namespace {

TEST(LostData, Errors_name_the_places_tried_and_the_variable_that_says_where_the_files_are) {
  ASSERT_EQ(std::getenv("TCSIM_DATA_DIR"), nullptr);
  for (const auto& look : {+[] { find_machine("i7-6700k"); }, +[] { find_suite("tccg"); },
                           +[] { shipped_machines(); }}) {
    try {
      look();
      ADD_FAILURE() << "found";
    } catch (const Error& e) {
      for (const char* part : {"/tests/lost-share", "/lost-source", "/lost-installed",
                               "set TCSIM_DATA_DIR to the folder that holds"}) {
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << "\n" << e.what();
      }
    }
  }
}

TEST(LostData, A_file_by_its_path_and_a_named_folder_still_work) {
  const std::string source = TCSIM_SOURCE_DIR;
  EXPECT_EQ(find_machine(source + "/machines/i7-6700k.toml").name, "i7-6700k");
  setenv("TCSIM_DATA_DIR", source.c_str(), 1);
  EXPECT_EQ(find_machine("i7-6700k").name, "i7-6700k");
  unsetenv("TCSIM_DATA_DIR");
}

}  // namespace
}  // namespace tcsim
