// tcsim diff: two folders by what they mean.
#include "sweep/compare.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "sweep/result_folder.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"
#include "tests/sweep/many_points.hpp"

namespace tcsim {
namespace {

void compute(const Folder& folder, const std::string& more, const std::string& values) {
  SweepOptions o;
  o.folder = folder.path();
  o.version = "test";
  sweep(study_of(more +
                 "schema = 1\nname = \"t\"\nworkloads = [\"tccg:22\", \"tccg:23\"]\n"
                 "machines = [\"i7-6700k\"]\n[[knob]]\nname = \"memory.bandwidth\"\nvalues = [" +
                 values + "]\n"),
        o);
}

TEST(Compare, Looks_at_designs_and_not_at_their_numbers) {
  const Folder a("a"), b("b"), c("c");
  compute(a, "", "\"0.1x\", \"0.2x\", \"0.4x\"");
  compute(b, "seed = 5\n", "\"0.4x\", \"0.1x\", \"0.2x\"");
  compute(c, "accounting = \"paper\"\n", "\"0.4x\", \"0.1x\", \"0.3x\"");
  const Comparison same = compare_results(a.path(), b.path(), 1e-12);
  EXPECT_EQ(same.common, 8);
  // Warm starts run in the order of the designs, so schedules may differ; times hardly.
  for (const ColumnDifference& d : same.columns) EXPECT_LT(d.largest, 0.01) << d.column;
  EXPECT_EQ(same.points_only_a + same.points_only_b, 0);
  ASSERT_EQ(same.settings.size(), 1u);
  EXPECT_EQ(same.settings[0], "seed: 0, 5");
  EXPECT_TRUE(compare_results(a.path(), a.path(), 0).same());

  const Comparison other = compare_results(a.path(), c.path(), 0.001);
  EXPECT_FALSE(other.same());
  EXPECT_EQ(other.common, 6);
  EXPECT_EQ(other.points_only_a, 2);
  EXPECT_EQ(other.points_only_b, 2);
  bool seconds = false;
  for (const ColumnDifference& d : other.columns) {
    if (d.column != "seconds") continue;
    seconds = true;
    EXPECT_GT(d.largest, 0.01);
    EXPECT_TRUE(d.where.starts_with("tccg:2")) << d.where;
  }
  EXPECT_TRUE(seconds);
  EXPECT_THROW(compare_results(a.path(), "/nonexistent", 0), InputError);
}

TEST(Compare, Stops_when_asked) {
  const Folder folder("compare_stop");
  write_many_points(folder.path(), 50000);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(compare_results(folder.path(), folder.path(), 0, stop.get_token()), Interrupted);
}

// A folder that somebody else made: what it calls a table may be a program.
TEST(Compare, Views_in_the_place_of_tables_are_not_run) {
  const Folder folder("compare_view");
  write_many_points(folder.path(), 3);
  Database(folder.path() / "results.sqlite", Database::Mode::write)
      .run("DROP TABLE meta; CREATE VIEW meta AS SELECT 'schema' AS what, '1' AS value");
  try {
    compare_results(folder.path(), folder.path(), 0);
    FAIL() << "a view is no table";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              (folder.path() / "results.sqlite").string() +
                  ": no results of a sweep: it has no table 'meta'; give a folder that tcsim sweep "
                  "wrote, or its results.sqlite");
  }
  EXPECT_THROW(ResultFolder(folder.path()), Error);
}

}  // namespace
}  // namespace tcsim
