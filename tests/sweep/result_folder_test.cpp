// Folders of results, read again: rows, orders, filters, charts, and points as designs.
#include "sweep/result_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/model/predict.hpp"
#include "core/schedule/schedule.hpp"
#include "core/text/safe.hpp"
#include "sweep/chart_points.hpp"
#include "sweep/database.hpp"
#include "sweep/result_rows.hpp"
#include "sweep/results.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"
#include "tests/sweep/many_points.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

class Result_folder : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Of this process: several run tests of this suite at the same time.
    folder = std::make_unique<Folder>("result_folder_" + std::to_string(getpid()));
    SweepOptions o;
    o.folder = folder->path();
    o.version = "test";
    sweep(small_study(), o);
  }
  static void TearDownTestSuite() { folder.reset(); }
  static std::vector<Row> all(const std::string& filter, const RowOrder& order = {}) {
    ResultRows rows(ResultFolder(folder->path()), filter, order, {});
    return rows.read(0, rows.size() + 10);
  }
  static std::unique_ptr<Folder> folder;
};
std::unique_ptr<Folder> Result_folder::folder;

std::string problem(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST_F(Result_folder, Has_the_rows_of_the_table_for_spreadsheets_to_the_last_digit) {
  const ResultFolder results(folder->path());
  std::string text;
  for (const std::string& c : results.columns()) text += (text.empty() ? "" : ",") + csv_cell(c);
  std::vector<std::string> lines{text};
  for (const Row& row : all("")) {
    text.clear();
    for (const Cell& c : row) text += (&c == row.data() ? "" : ",") + c.csv();
    lines.push_back(text);
  }
  std::istringstream csv(file_text(folder->path() / "results.csv"));
  std::vector<std::string> expected;
  for (std::string line; std::getline(csv, line);) expected.push_back(line);
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(results.points(), std::ssize(expected) - 1);
  EXPECT_FALSE(results.verdict().empty());
}

TEST_F(Result_folder, Sorts_and_filters_and_pages_as_somebody_would_by_hand) {
  const ResultFolder results(folder->path());
  const std::size_t seconds = results.column("seconds"), l3 = results.column("L3.capacity");
  EXPECT_EQ(results.columns()[l3], "L3.capacity_bytes");
  const auto sorted = all("", {"seconds", true});
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(), [&](const Row& a, const Row& b) {
    return a[seconds].real > b[seconds].real;
  }));
  EXPECT_EQ(sorted.size(), all("").size());
  std::vector<Row> kept;
  for (const Row& row : sorted) {
    if (row[l3].real >= 8 * 1024 * 1024 && row[results.column("workload")].text == "matmul") {
      kept.push_back(row);
    }
  }
  const auto filtered = all("L3.capacity >= 8MiB and workload = matmul", {"seconds", true});
  ASSERT_EQ(filtered.size(), kept.size());
  ASSERT_GT(kept.size(), 20u);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(filtered[i][0].csv(), kept[i][0].csv());

  ResultRows rows(results, "workload = matmul", {"seconds", false}, {});
  const auto page = rows.read(7, 5);
  ASSERT_EQ(page.size(), 5u);
  EXPECT_EQ(rows.place({page[2][0].integer, "matmul"}), 9);
  EXPECT_EQ(rows.place({page[2][0].integer, "tccg:29"}), std::nullopt);
  EXPECT_TRUE(rows.read(rows.size(), 5).empty());
}

TEST_F(Result_folder, Says_what_a_filter_should_be) {
  EXPECT_NE(problem([] { all("secnds < 1"); }).find("did you mean 'seconds'"), std::string::npos);
  EXPECT_NE(problem([] { all("seconds"); }).find("no comparison"), std::string::npos);
  EXPECT_NE(problem([] { all("seconds < fast"); }).find("no number"), std::string::npos);
  EXPECT_NE(problem([] { all("bottleneck < L3"); }).find("use = or !="), std::string::npos);
  EXPECT_EQ(all("workload = 'x; DROP TABLE points'").size(), 0u);
}

TEST_F(Result_folder, Charts_have_the_points_of_the_table) {
  const ResultFolder results(folder->path());
  const ChartPoints chart =
      chart_points(results, "workload = matmul", "L3.capacity", "seconds", {});
  EXPECT_EQ(chart.all, std::ssize(all("workload = matmul")));
  EXPECT_TRUE(chart.x_log);
  ASSERT_FALSE(chart.points.empty());
  for (const ChartPoint& p : chart.points) {
    const Row row = results.row(p.key);
    EXPECT_EQ(row[chart.x].real, p.x);
    EXPECT_EQ(row[chart.y].real, p.y);
    EXPECT_EQ(row[results.column("bottleneck")].text, p.bottleneck);
  }
  EXPECT_THROW(chart_points(results, "", "workload", "seconds", {}), UsageError);
}

// Every point, set up by hand, is predicted as the sweep has predicted it.
TEST_F(Result_folder, Points_become_designs_with_the_same_numbers) {
  const ResultFolder results(folder->path());
  const auto rows = all("");
  for (std::size_t i = 0; i < rows.size(); i += 7) {
    const PointKey key{rows[i][0].integer, rows[i][results.column("workload")].text};
    const Design d = results.design(key);
    const Machine m = changed_machine(find_machine(d.machine), d);
    const Contraction c = find_workload(d.workload);
    const Prediction p = predict(c, parse_schedule(d.schedule, c, ""), m);
    EXPECT_EQ(p.timing.total.value(), rows[i][results.column("predicted_seconds")].real) << i;
  }
}

TEST(Result_folder_machine, A_file_is_found_beside_the_results) {
  const Folder folder("result_machine");
  fs::create_directories(folder.path());
  fs::copy_file(fs::path(TCSIM_SOURCE_DIR) / "machines/i7-6700k.toml", folder.path() / "mine.toml");
  const fs::path file = folder.path() / "study.toml";
  SweepOptions o;
  o.folder = folder.path() / "out";
  o.version = "test";
  sweep(parse_study("schema = 1\nname = \"s\"\nmachines = [\"mine.toml\"]\n"
                    "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=48,j=48,k=48\"\n",
                    file.string(), shipped_sources(file)),
        o);
  const ResultFolder results(o.folder);
  const Design d = results.design({0, "ij-ik-kj"});
  EXPECT_EQ(d.machine, (folder.path() / "mine.toml").string());
  EXPECT_EQ(d.workload.sizes, "i=48,j=48,k=48");
}

TEST(Result_folder_faults, Are_told_in_words) {
  const Folder folder("result_faults");
  fs::create_directories(folder.path());
  const auto open = [&] { return problem([&] { ResultFolder{folder.path()}; }); };
  EXPECT_NE(open().find("there are no results"), std::string::npos);
  std::ofstream(folder.path() / "store.sqlite") << "x";
  EXPECT_NE(open().find("not complete"), std::string::npos);
  std::ofstream(folder.path() / "results.sqlite") << std::string(5000, 'x');
  EXPECT_NE(open().find("damaged"), std::string::npos) << open();
}

TEST(Result_folder_faults, A_cut_table_is_told_where_it_is_read) {
  const Folder folder("result_cut");
  write_many_points(folder.path(), 20000);
  const ResultFolder results(folder.path());
  fs::resize_file(folder.path() / "results.sqlite", 400000);
  EXPECT_NE(problem([&] { ResultRows(results, "", {}, {}); }).find("damaged"), std::string::npos);
}

TEST(Result_rows, A_sort_stops_when_asked) {
  const Folder folder("result_stop");
  write_many_points(folder.path(), 50000);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(ResultRows(ResultFolder(folder.path()), "", {"seconds", true}, stop.get_token()),
               Interrupted);
}

}  // namespace
}  // namespace tcsim
