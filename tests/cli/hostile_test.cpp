// Names, descriptions and file names that are made to do harm where they are printed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;

const std::string formula = "=cmd|' /C calc'!A0 */ #error";
const std::string escapes = "+1\033]0;owned\a\r\n\u009b2J\u202e\x7f \\";

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::scratch("hostile\n\033[2J");
    fs::create_directories(folder_);
    Machine m = find_machine("i7-6700k");
    m.name = formula;
    m.description = escapes;
    m.remarks.push_back(escapes);
    m.levels[0].capacity.source = escapes;
    std::ofstream(machine()) << to_toml(m);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string machine() const { return (folder_ / "a\xff.toml").string(); }

  fs::path folder_;
};

void expect_harmless(const Ran& r, const std::string& what) {
  EXPECT_EQ(visible_lines(r.out), r.out) << what;
  EXPECT_EQ(visible_lines(r.err), r.err) << what;
  EXPECT_EQ(r.out.find('\r'), std::string::npos) << what;
}

TEST_F(Hostile, No_command_lets_a_name_act_on_the_terminal) {
  const std::vector<std::vector<std::string>> commands{
      {"predict", "ij-ik-kj", "--size", "i=24,j=24,k=24", "--machine", machine()},
      {"simulate", "ij-ik-kj", "--size", "i=24,j=24,k=24", "--machine", machine()},
      {"emit", "ij-ik-kj", "--size", "i=24,j=24,k=24", "--machine", machine()},
      {"machine", "show", machine()},
      {"machine", "check", machine()},
      {"machine", "diff", machine(), "i7-6700k"},
      {"machine", "export", machine(), "--to", "kerncraft"},
      {"machine", "export", machine(), "--to", "pycachesim"},
      {"machine", "export", machine(), "--to", "blis"}};
  for (std::vector<std::string> command : commands) {
    const std::string what = command[0] + " " + command[1];
    const Ran table = tcsim(command);
    EXPECT_LE(table.code, Exit::no) << what << table.err;  // "no": they differ
    expect_harmless(table, what);
    if (command[0] == "emit") continue;  // has one form
    command.insert(command.end(), {"--format", "json"});
    const Ran as_json = tcsim(command);
    expect_harmless(as_json, what);
    EXPECT_TRUE(nlohmann::json::accept(as_json.out)) << what << as_json.out << as_json.err;
    command.back() = "csv";
    const Ran csv = tcsim(command);
    expect_harmless(csv, what);
    for (const std::string& line : lines(csv.out)) {
      for (const char* begin : {",=", ",+", ",@", "\"=", ",\"+", ",\"@"}) {
        EXPECT_FALSE(contains(line, begin)) << what << ": " << line;
      }
    }
  }
}

TEST_F(Hostile, A_description_stays_on_its_line) {
  const Ran r = tcsim({"predict", "ij-ik-kj", "--size", "i=24,j=24,k=24", "--machine", machine()});
  EXPECT_TRUE(contains(r.out, "(+1\\u001b]0;owned\\u0007\\r\\n\\u009b2J\\u202e\\u007f \\)"))
      << r.out;
}

TEST_F(Hostile, A_name_does_not_end_the_comment_of_an_emitted_file) {
  const Ran r = tcsim({"emit", "ij-ik-kj", "--size", "i=24,j=24,k=24", "--machine", machine()});
  EXPECT_TRUE(contains(r.out, "* / #error")) << r.out.substr(0, 1500);
  EXPECT_FALSE(contains(r.out, "*/ #error"));
}

TEST_F(Hostile, An_error_is_one_line_that_acts_on_nothing) {
  const std::string name = "no\nsuch\033[2J\xff";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"machine", "show", name},
        {"predict", name},
        {"predict", "tccg:1", "--machine", "i7-6700k", "--schedule", name},
        {"predict", "tccg:1", "--machine", "i7-6700k", "--format", name},
        {"predict", "tccg:1", "--" + name},
        {"predict", "tccg:1", "--machine", "i7-6700k", "--out", "/" + name + "/x"},
        {"simulate", "--trace", name},
        {name},
        {"predict", "tccg:1", "--machine", "i7-6700k", "--session", name}}) {
    const Ran r = tcsim(command);
    EXPECT_TRUE(r.code == Exit::usage || r.code == Exit::input) << command.back();
    expect_harmless(r, command.back());
    EXPECT_EQ(lines(r.err).size(), 1u) << r.err;
  }
}

TEST_F(Hostile, An_error_quotes_at_most_a_line_of_what_was_given) {
  const std::string much(100000, 'y');
  const std::string file = (folder_ / "much.toml").string();
  std::ofstream(file) << "schema = 1\nname = \"" << much << "\"\n" << much << " = 1\n";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"predict", much},
        {"predict", "tccg:1", "--machine", "i7-6700k", "--set", much},
        {"predict", "tccg:1", "--machine", "i7-6700k", "--set", "L1.ways=" + much},
        {"predict", "tccg:1", "--machine", "i7-6700k", "--schedule", much},
        {"predict", "tccg:1", "--" + much},
        {"predict", "ij-ik-kj", "--size", much},
        {"machine", "show", file},
        {"machine", "check", file},
        {"sweep", file},
        {much}}) {
    const Ran r = tcsim(command);
    EXPECT_NE(r.code, Exit::done) << command[0];
    EXPECT_LT(r.err.size() + r.out.size(), 3500u) << command[0] << ": " << r.err.substr(0, 300);
  }
}

TEST_F(Hostile, A_trace_may_have_any_name) {
  const std::string trace = (folder_ / "t\xff\033.din").string();
  std::ofstream(trace) << "0 1000\n1 1040\n";
  for (const char* format : {"table", "json", "csv"}) {
    const Ran r =
        tcsim({"simulate", "--trace", trace, "--machine", "i7-6700k", "--format", format});
    EXPECT_EQ(r.code, Exit::done) << r.err;
    expect_harmless(r, format);
  }
}

TEST_F(Hostile, A_file_is_written_as_standard_output_would_have_been) {
  const std::string out = (folder_ / "out").string();
  EXPECT_EQ(tcsim({"machine", "show", machine(), "--out", out}).code, Exit::done);
  std::ifstream in(out, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            tcsim({"machine", "show", machine()}).out);
}

}  // namespace
}  // namespace tcsim::cli
