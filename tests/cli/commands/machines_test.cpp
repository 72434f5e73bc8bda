// Every command on every machine that ships with tcsim: it ends with a result, or says in a
// sentence why it has none.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/data/shipped.hpp"
#include "core/machine/toml.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;

// Problems of few multiply-adds: what is asked is whether a command ends, and how.
class Every_command : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "tensors");
    std::ofstream(folder_ / "suite.toml")
        << "schema = 1\nname = \"small\"\n[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"" << sizes
        << "\"\n";
    std::ofstream(folder_ / "study.toml")
        << "schema = 1\nname = \"small\"\nmachines = [\"" << machine()
        << "\"]\n[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"" << sizes
        << "\"\n[[knob]]\nname = \"core.frequency\"\nvalues = [\"1x\", \"2x\"]\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string machine() const { return GetParam(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // The command for the small problem on the machine.
  std::vector<std::string> on(const std::string& command,
                              std::vector<std::string> more = {}) const {
    std::vector<std::string> args{command, "ij-ik-kj", "--size", sizes, "--machine", machine()};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  std::vector<std::vector<std::string>> calls() const {
    const std::string memory = find_machine(machine()).levels.back().name;
    std::vector<std::vector<std::string>> all{
        on("report", {"--no-run"}),
        on("optimize"),
        on("predict"),
        on("predict", {"--model", "listing3"}),
        on("simulate"),
        on("simulate", {"--attribution"}),
        on("simulate", {"--sample", "16"}),
        on("simulate", {"--tlb"}),
        {"simulate", "--trace", path("trace.din"), "--machine", machine()},
        on("run", {"--repetitions", "1"}),
        on("bounds", {"--curve", "64..256", "--run", "--repetitions", "1", "--counters", "none"}),
        on("tune", {"--budget", "50ms"}),
        on("validate", {"--explain", "0.001", "--limit", "1000"}),
        on("whatif"),
        on("whatif", {"--fixed-schedule"}),
        on("whatif", {"--vary", memory + ".bandwidth=0.5x..1x:2"}),
        on("whatif", {"--vary", "caches.line=64,128"}),
        on("whatif", {"--vary", memory + ".bandwidth=0.5x,1x", "--vary", "core.frequency=1x,2x"}),
        on("emit"),
        {"fuse", "ap,pq,bq->ab", "--size", "a=12,b=10,p=8,q=6", "--tiles", "1KiB", "--no-whatif",
         "--machine", machine()},
        {"fuse", "ap,pq,bq->ab", "--size", "a=12,b=10,p=8,q=6", "--simulate", "--machine",
         machine()},
        {"sweep", path("study.toml"), "--dry-run", "--threads", "1"},
        {"sweep", path("study.toml"), "--threads", "1", "--out", path("results")},
        {"diff", path("results"), path("results")},
        {"machine", "show", machine()},
        {"machine", "show", machine(), "--series"},
        {"machine", "check", machine()},
        {"machine", "diff", machine(), machine()},
    };
    // Before it runs anything it measures this machine for seconds, whatever the other one is:
    // asked where that is refused, and in bench_test.
    if (find_machine(machine()).levels.front().kind != LevelKind::cache) {
      all.push_back({"bench", "tccg", "--suite", path("suite.toml"), "--peers", "none",
                     "--repetitions", "1", "--machine", machine()});
      all.push_back({"fuse", "ap,pq,bq->ab", "--size", "a=12,b=10,p=8,q=6", "--vary",
                     memory + ".bandwidth=0.5x,1x", "--machine", machine()});
      all.push_back({"fuse", "ap,pq,bq->ab", "--size", "a=12,b=10,p=8,q=6", "--run",
                     path("tensors"), "--fill", "--no-whatif", "--machine", machine()});
    }
    for (const char* format : {"kerncraft", "dinero", "pycachesim", "blis"}) {
      all.push_back({"machine", "export", machine(), "--to", format});
    }
    return all;
  }

  static constexpr const char* sizes = "i=24,j=20,k=16";
  // Of this test alone: they run at the same time.
  fs::path folder_ = test::scratch(GetParam());
};

std::string joined(const std::vector<std::string>& args) {
  std::string line = "tcsim";
  for (const std::string& a : args) line += " " + a;
  return line;
}

// Only these ask nothing of a machine.
TEST_P(Every_command, Is_called) {
  std::set<std::string> called{"probe", "list", "bench"};
  for (const auto& args : calls()) called.insert(args.front());
  for (const Command* c : all_commands()) EXPECT_TRUE(called.contains(c->name)) << c->name;
}

TEST_P(Every_command, Ends_with_a_result_or_says_why_there_is_none) {
  std::ofstream(path("trace.din")) << "0 1000 8\n1 2000 8\n0 1008 8\n";
  for (const auto& args : calls()) {
    SCOPED_TRACE(joined(args));
    const Ran r = tcsim(args);
    if (r.code == Exit::done) {
      EXPECT_NE(r.out, "");
      EXPECT_EQ(r.err.find("tcsim: "), std::string::npos) << r.err;
      continue;
    }
    // A usage error would be this test's own, but for a knob that the machine does not have.
    EXPECT_TRUE(r.code == Exit::input || r.code == Exit::unsupported ||
                (r.code == Exit::usage && contains(joined(args), "caches.line")))
        << static_cast<int>(r.code) << ": " << r.err;
    if (args.front() != "bench") {  // its table grows
      EXPECT_EQ(r.out, "");
    }
    EXPECT_EQ(std::ranges::count(r.err, '\n'), 1) << r.err;
    EXPECT_TRUE(r.err.starts_with("tcsim: ")) << r.err;
    EXPECT_GT(r.err.size(), std::string("tcsim: \n").size());
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Every_command, testing::ValuesIn(shipped_machines()),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace tcsim::cli
