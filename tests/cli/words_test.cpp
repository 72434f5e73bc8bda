// Nearest words.
#include <gtest/gtest.h>

#include "core/units/nearest.hpp"
#include "tests/cli/run.hpp"

namespace tcsim::cli {
namespace {

TEST(Nearest, Counts_letters_to_insert_delete_replace_and_exchange) {
  EXPECT_EQ(letters_apart("", ""), 0u);
  EXPECT_EQ(letters_apart("", "abc"), 3u);
  EXPECT_EQ(letters_apart("kitten", "sitting"), 3u);  // the textbook's example
  EXPECT_EQ(letters_apart("jsno", "json"), 1u);
  EXPECT_EQ(letters_apart("ca", "abc"), 3u);  // each letter is moved once at most
}

TEST(Nearest, Suggests_the_closest_word_and_nothing_far_fetched) {
  const std::vector<std::string> known{"report", "predict", "run"};
  EXPECT_EQ(nearest("repot", known), "report");
  EXPECT_EQ(nearest("pre", known), "predict");
  EXPECT_EQ(nearest("rum", known), "run");
  EXPECT_EQ(nearest("frobnicate", known), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(one_of("rnu", known), "did you mean 'run'? use one of report, predict, run");
  EXPECT_EQ(one_of("zebra", known), "use one of report, predict, run");
}

}  // namespace
}  // namespace tcsim::cli
