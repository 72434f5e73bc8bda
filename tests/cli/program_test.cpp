// Programs as WORKLOADs: contractions are computed as their labels are, others refused by all.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* chain_refused =
    "chain: it has 2 statements: chains are not done yet; one statement that multiplies two "
    "tensors "
    "is\n";

class ProgramFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::scratch("program");
    fs::create_directories(folder_);
    std::ofstream(chain()) << "program chain\ndims i=14 j=15 k=16 l=17\n"
                              "f64 input A[i, k]\nf64 input B[k, j]\nf64 intermediate T[i, j]\n"
                              "f64 input D[j, l]\nf64 output E[i, l]\n"
                              "T[i, j] += A[i, k] * B[k, j]\nE[i, l] += T[i, j] * D[j, l]\n";
    std::ofstream(product()) << product_text();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Dimensions and tensors in another order than the label's.
  static std::string product_text() {
    return "program mm\ndims k=80 j=72 i=96\nf64 output S[i, j] column-major\n"
           "f64 input R[k, j] column-major\nf64 input L[i, k] column-major\n"
           "S[i, j] += L[i, k] * R[k, j]\n";
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  // Names that a label could have.
  std::string chain() const { return (folder_ / "my-chain.program").string(); }
  std::string product() const { return (folder_ / "ij-ik-kj.program").string(); }

  fs::path folder_;
};

TEST_F(ProgramFile, Of_a_contraction_is_computed_as_its_label_is) {
  for (const char* command : {"predict", "optimize", "simulate"}) {
    SCOPED_TRACE(command);
    const auto answer = [&](const std::vector<std::string>& workload) {
      std::vector<std::string> args{command};
      args.insert(args.end(), workload.begin(), workload.end());
      for (const char* arg : {"--machine", "i7-6700k", "--format", "json"}) args.push_back(arg);
      const Ran r = tcsim(args);
      EXPECT_EQ(r.code, Exit::done) << r.err;
      auto found = nlohmann::ordered_json::parse(r.out);
      found["workload"].erase("name");
      if (found.contains("certificate")) found["certificate"].erase("seconds_to_solve");
      return found.dump(1);
    };
    const auto label = answer({"ij-ik-kj", "--size", "i=96,j=72,k=80", "--layout", "column-major"});
    EXPECT_EQ(answer({product()}), label);
  }
  const Ran named = tcsim({"predict", product(), "--machine", "i7-6700k"});
  EXPECT_TRUE(named.out.starts_with("mm  ij-ik-kj  i=96,j=72,k=80  f64 column-major")) << named.out;
}

TEST_F(ProgramFile, Takes_another_element_type_and_no_other_option_of_a_label) {
  const Ran single = tcsim({"predict", product(), "--type", "f32", "--machine", "i7-6700k"});
  EXPECT_TRUE(single.out.starts_with("mm  ij-ik-kj  i=96,j=72,k=80  f32 column-major"));
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"--size", "i=9"}, {"--layout", "row-major"}}) {
    const Ran r = tcsim({"predict", product(), option, value, "--machine", "i7-6700k"});
    EXPECT_EQ(r.code, Exit::usage);
    EXPECT_EQ(r.err, "tcsim: " + option + ": '" + product() +
                         "' is a program, which says that itself; leave the option out, or give a "
                         "label such as abcd-aebf-dfce\n");
  }
}

TEST_F(ProgramFile, That_is_no_contraction_is_refused_by_every_command_but_bounds) {
  EXPECT_EQ(tcsim({"bounds", chain()}).code, Exit::done);
  for (const Command* command : all_commands()) {
    if (command->arguments.find("WORKLOAD") == std::string::npos) continue;
    if (command->name == "bounds") continue;
    SCOPED_TRACE(command->name);
    std::vector<std::string> args{command->name, chain(), "--machine", "i7-6700k"};
    if (command->name == "whatif") args.insert(args.end(), {"--vary", "L3.capacity=1x..2x"});
    const Ran r = tcsim(args);
    EXPECT_EQ(r.code, Exit::unsupported);
    EXPECT_EQ(r.err, std::string("tcsim: ") + chain_refused);
    EXPECT_EQ(r.out, "");
  }
}

TEST_F(ProgramFile, Is_reported_with_line_and_column_where_it_is_wrong) {
  const std::string file = write("bad.program", "program x\ndims i=3\nf64 inputs A[i]\n");
  const Ran r = tcsim({"predict", file, "--machine", "i7-6700k"});
  EXPECT_EQ(r.code, Exit::input);
  EXPECT_EQ(r.err.rfind("tcsim: " + file + ":3:5: input, output or intermediate expected", 0), 0U)
      << r.err;
  const std::string none = (folder_ / "none.program").string();
  EXPECT_EQ(tcsim({"predict", none, "--machine", "i7-6700k"}).err,
            "tcsim: " + none +
                ": cannot be read: No such file or directory; name a file that is "
                "there and readable\n");
}

TEST_F(ProgramFile, May_be_in_a_suite) {
  const auto suite = [&](const std::string& program) {
    return write("suite.toml",
                 "schema = 1\nname = \"mine\"\n[[workload]]\nlabel = \"ij-ik-kj\"\n"
                 "sizes = \"i=8,j=8,k=8\"\n[[workload]]\nprogram = \"\"\"\n" +
                     program + "\"\"\"\n");
  };
  const std::string file = suite(product_text());
  const Ran second = tcsim({"predict", file + ":2", "--machine", "i7-6700k"});
  EXPECT_TRUE(second.out.starts_with("mine:2  ij-ik-kj  i=96,j=72,k=80  f64 column-major"))
      << second.out << second.err;
  const Ran single = tcsim({"predict", file + ":2", "--type", "f32", "--machine", "i7-6700k"});
  EXPECT_TRUE(single.out.starts_with("mine:2  ij-ik-kj  i=96,j=72,k=80  f32")) << single.err;

  std::ifstream in(chain());
  const std::string chain_text{std::istreambuf_iterator<char>(in), {}};
  suite(chain_text);
  const Ran refused = tcsim({"predict", file + ":2", "--machine", "i7-6700k"});
  EXPECT_EQ(refused.code, Exit::unsupported);
  EXPECT_EQ(refused.err, "tcsim: " + file + ":7:11: " + chain_refused);
}

TEST_F(ProgramFile, May_be_in_a_study_beside_it) {
  const std::string study = write(
      "study.toml",
      "schema = 1\nname = \"s\"\nworkloads = [\"ij-ik-kj.program\"]\nmachines = [\"i7-6700k\"]\n"
      "[[knob]]\nname = \"L3.capacity\"\nvalues = [\"1x\"]\n");
  const Ran r = tcsim({"sweep", study, "--out", (folder_ / "out").string(), "--quiet"});
  EXPECT_EQ(r.code, Exit::done) << r.err;
}

}  // namespace
}  // namespace tcsim::cli
