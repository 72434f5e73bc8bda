// tcsim sweep and tcsim diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;

class Sweep_command : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("study.toml", "\"0.2x\", \"0.5x\", \"1x\"");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& values) {
    std::ofstream(folder_ / name)
        << "schema = 1\nname = \"s\"\nmachines = [\"i7-6700k\"]\naccounting = \"paper\"\n"
           "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=96,j=72,k=80\"\n"
           "[[knob]]\nname = \"memory.bandwidth\"\nvalues = ["
        << values << "]\n";
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Of this test alone: they run at the same time.
  fs::path folder_ = test::scratch(testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Sweep_command, Counts_points_without_computing_them) {
  const Ran r = tcsim({"sweep", path("study.toml"), "--dry-run", "--threads", "1"});
  EXPECT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "4 designs with the machines as they are, 4 points")) << r.out;
  EXPECT_TRUE(contains(r.out, "on 1 thread, by trying some")) << r.out;
}

TEST_F(Sweep_command, Leaves_a_folder_that_diff_compares) {
  const Ran r = tcsim({"sweep", path("study.toml"), "--out", path("a")});
  EXPECT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "Best of 3 designs: memory.bandwidth")) << r.out;
  for (const char* file : {"results.sqlite", "results.csv", "results.jsonl", "schedules.csv",
                           "manifest.json", "report.html"}) {
    EXPECT_TRUE(fs::exists(folder_ / "a" / file)) << file;
  }
  EXPECT_FALSE(fs::exists(folder_ / "a" / "store.sqlite"));
  std::ifstream jsonl(folder_ / "a" / "results.jsonl");
  int designs = 0;
  for (std::string line; std::getline(jsonl, line); ++designs) {
    const auto j = nlohmann::json::parse(line);
    EXPECT_EQ(j["points"].size(), 1u);
    EXPECT_GT(j["points"][0]["seconds"], 0);
  }
  EXPECT_EQ(designs, 4);

  EXPECT_EQ(tcsim({"sweep", path("study.toml"), "--out", path("a")}).code, Exit::usage);
  EXPECT_EQ(tcsim({"sweep", path("study.toml"), "--out", path("a"), "--resume"}).code, Exit::done);
  const Ran same = tcsim({"diff", path("a"), path("a")});
  EXPECT_EQ(same.code, Exit::done);
  EXPECT_TRUE(contains(same.out, "the same results")) << same.out;

  write("other.toml", "\"0.25x\", \"1x\"");
  ASSERT_EQ(tcsim({"sweep", path("other.toml"), "--out", path("b")}).code, Exit::done);
  const Ran other = tcsim({"diff", path("a"), path("b"), "--format", "json"});
  EXPECT_EQ(other.code, Exit::no);
  const auto j = nlohmann::json::parse(other.out);
  EXPECT_EQ(j["points"], 2);
  EXPECT_EQ(j["points_only_a"], 2);
  EXPECT_EQ(j["points_only_b"], 1);
}

// The schedule of the machine as it is has an 8x6 kernel or one of as many vectors of four doubles,
// which 16 registers of two do not hold.
TEST_F(Sweep_command, Leaves_out_designs_whose_registers_do_not_hold_the_schedule_that_is_kept) {
  std::ofstream(folder_ / "narrow.toml")
      << "schema = 1\nname = \"s\"\nmachines = [\"i7-6700k\"]\ncompute = \"predict\"\n"
         "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=96,j=72,k=80\"\n"
         "[[knob]]\nname = \"core.vector_bits\"\nvalues = [128, 256, 512]\n";
  const Ran r = tcsim({"sweep", path("narrow.toml"), "--out", path("n"), "--threads", "1"});
  ASSERT_EQ(r.code, Exit::done) << r.err;
  std::ifstream jsonl(folder_ / "n" / "results.jsonl");
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(jsonl), {}, '\n'), 3);  // with the base
  std::ifstream manifest(folder_ / "n" / "manifest.json");
  const std::string said((std::istreambuf_iterator<char>(manifest)), {});
  EXPECT_TRUE(contains(said, "too few registers for the kernel of the schedule that is kept"))
      << said;
}

// A terminal at which somebody asks to stop as soon as there is anything to see.
class Impatient : public std::stringbuf {
 public:
  explicit Impatient(std::stop_source& stop) : stop_(stop) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    stop_.request_stop();
    return std::stringbuf::xsputn(text, n);
  }

 private:
  std::stop_source& stop_;
};

TEST_F(Sweep_command, Interrupted_it_says_how_to_go_on) {
  std::stop_source stop;
  Impatient said(stop);
  std::ostream err(&said);
  std::ostringstream out;
  Context context{out, err, stop.get_token(), true};
  EXPECT_EQ(main({"sweep", path("study.toml"), "--out", path("c"), "--threads", "1"}, context),
            Exit::interrupted);
  EXPECT_TRUE(contains(said.str(), "interrupted; 1 of at most 4 points are kept")) << said.str();
  EXPECT_TRUE(contains(said.str(), "go on with --resume")) << said.str();
  EXPECT_EQ(tcsim({"sweep", path("study.toml"), "--out", path("c"), "--resume"}).code, Exit::done);
}

TEST_F(Sweep_command, Interrupted_while_the_study_is_read_it_leaves_nothing) {
  std::stop_source stop;
  stop.request_stop();
  const Ran r = tcsim({"sweep", path("study.toml"), "--out", path("c")}, stop.get_token());
  EXPECT_EQ(r.code, Exit::interrupted);
  EXPECT_EQ(r.err, "tcsim: interrupted\n");
  EXPECT_FALSE(fs::exists(folder_ / "c"));
}

TEST_F(Sweep_command, Wrong_wishes_are_named_with_what_would_be_right) {
  EXPECT_EQ(tcsim({"sweep"}).code, Exit::usage);
  const Ran none = tcsim({"sweep", path("none.toml")});
  EXPECT_EQ(none.code, Exit::input);
  EXPECT_TRUE(contains(none.err, "cannot be read")) << none.err;
  write("bad.toml", "\"0.2y\"");
  const Ran bad = tcsim({"sweep", path("bad.toml"), "--out", path("d")});
  EXPECT_EQ(bad.code, Exit::input);
  EXPECT_TRUE(contains(bad.err, "bad.toml:10:11: ")) << bad.err;
  EXPECT_FALSE(fs::exists(folder_ / "d"));
  EXPECT_EQ(tcsim({"diff", path("a")}).code, Exit::usage);
  EXPECT_EQ(tcsim({"diff", path("a"), path("b")}).code, Exit::input);
}

}  // namespace
}  // namespace tcsim::cli
