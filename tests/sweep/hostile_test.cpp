// Names that are made to do harm where a sweep's results are opened: in a browser, a spreadsheet, a
// database.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "sweep/database.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

const std::string formula = "=HYPERLINK(1)\"'><script>x()</script>";
const std::string markup = "+1</title></text><img src=x onerror=x()>";

class Hostile_study : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(files_.path());
    Machine m = find_machine("i7-6700k");
    m.name = formula;
    m.description = markup;
    std::ofstream(files_.path() / "m.toml") << to_toml(m);
    const std::string text = "schema = 1\nname = " + toml_string(formula) +
                             "\ndescription = " + toml_string(markup) + "\nmachines = [" +
                             toml_string((files_.path() / "m.toml").string()) +
                             "]\n[[workload]]\nname = " + toml_string(markup) +
                             "\nlabel = \"ij-ik-kj\"\nsizes = \"i=32,j=24,k=16\"\n"
                             "[[knob]]\nname = \"L3.capacity\"\nvalues = [\"4MiB\", \"8MiB\"]\n"
                             "[[knob]]\nname = \"memory.bandwidth\"\nvalues = [\"0.5x\", \"2x\"]\n";
    SweepOptions o;
    o.folder = folder_.path();
    o.version = formula;
    ASSERT_TRUE(sweep(study_of(text), o).complete);
  }
  std::string text(const char* name) const { return file_text(folder_.path() / name); }

  const Folder files_{"hostile_files"}, folder_{"hostile_results"};
};

TEST_F(Hostile_study, No_name_is_markup_in_the_report) {
  const std::string report = text("report.html");
  EXPECT_NE(report.find(in_markup(formula)), report.npos) << "the study's name is in it";
  EXPECT_NE(report.find(in_markup(markup)), report.npos);
  for (const char* mark : {"<script", "<img", "</text><", "\"'>", "http://", "https://"}) {
    const auto at = report.find(mark);
    EXPECT_TRUE(at == report.npos || report.compare(at, 18, "http://www.w3.org/") == 0)
        << mark << ": " << report.substr(at == report.npos ? 0 : at, 80);
  }
}

TEST_F(Hostile_study, No_name_is_a_formula_in_the_tables) {
  for (const char* name : {"results.csv", "schedules.csv"}) {
    std::istringstream lines(text(name));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_EQ(visible(line), line);
      for (const char* begin : {",=", ",+", "\"=", "\"+"}) {
        EXPECT_EQ(line.find(begin), line.npos) << line;
      }
    }
  }
  EXPECT_NE(text("results.csv").find(csv_cell(formula)), std::string::npos);
}

TEST_F(Hostile_study, Json_and_tables_have_the_names_as_they_are) {
  std::istringstream lines(text("results.jsonl"));
  int designs = 0;
  for (std::string line; std::getline(lines, line); ++designs) {
    EXPECT_EQ(nlohmann::json::parse(line).at("machine"), formula);
  }
  EXPECT_EQ(designs, 5);
  EXPECT_EQ(nlohmann::json::parse(text("manifest.json")).at("description"), markup);
  Database db(folder_.path() / "results.sqlite", Database::Mode::read);
  Statement s(db, "SELECT DISTINCT machine, workload FROM designs JOIN points USING(design)");
  ASSERT_TRUE(s.step());
  EXPECT_EQ(s.text(0), formula);
  EXPECT_EQ(s.text(1), markup);
}

}  // namespace
}  // namespace tcsim
