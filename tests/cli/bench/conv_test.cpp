// tcsim bench conv: its fields in every format, and what it refuses. Not how fast anything is.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/onednn.hpp"
#include "cli/bench/bench.hpp"
#include "core/error.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

class Bench_conv : public testing::Test {
 protected:
  Bench_conv() {
    write(layers_, "type = \"f32\"\n",
          "[[workload]]\nlabel = \"conv2d\"\nsizes = \"k=64,c=3,h=9,w=9,r=3,s=3,stride=2\"\n"
          "[[workload]]\nlabel = \"conv2d\"\nsizes = \"n=2,k=20,c=8,h=7,w=6\"\n");
    write(mixed_, "type = \"f32\"\n",
          "[[workload]]\nlabel = \"conv1d\"\nsizes = \"k=16,c=4,x=9,s=3\"\n"
          "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=4,j=5,k=6\"\n");
    write(doubles_, "type = \"f64\"\n",
          "[[workload]]\nlabel = \"conv1d\"\nsizes = \"k=16,c=4,x=9,s=3\"\n");
  }
  ~Bench_conv() override {
    for (const auto& file : {layers_, mixed_, doubles_}) std::filesystem::remove(file);
  }

  static void write(const std::string& file, const std::string& head, const std::string& rest) {
    std::ofstream(file) << "schema = 1\nname = \"few\"\nsource = \"test\"\n" << head << rest;
  }

  static Ran bench(const std::string& suite, std::vector<std::string> more = {},
                   std::stop_token stop = {}) {
    std::vector<std::string> args{"bench",     "conv",     "--suite",       suite,
                                  "--machine", "i7-6700k", "--repetitions", "1"};
    args.insert(args.end(), more.begin(), more.end());
    return tcsim(args, std::move(stop));
  }

  // Tests run at the same time, each in a process of its own.
  static std::string file(const char* name) {
    return test::scratch(name + std::string(".toml")).string();
  }
  const std::string layers_ = file("layers"), mixed_ = file("mixed"), doubles_ = file("doubles");
};

TEST_F(Bench_conv, Prints_the_same_layers_in_every_format) {
  const Ran ran = bench(layers_, {"--format", "json"});
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  const json j = json::parse(ran.out);
  EXPECT_EQ(j["command"], "bench conv");
  EXPECT_EQ(j["complete"], true);
  EXPECT_EQ(j["peers"].size(), 1u);
  const bool with_peer = bench::onednn_installed();
  EXPECT_EQ(j["peers"][0]["installed"], with_peer);
  ASSERT_EQ(j["cases"].size(), 2u);
  for (const json& one : j["cases"]) {
    EXPECT_EQ(one["contestants"][0]["name"], "tcsim");
    EXPECT_EQ(one["contestants"].size(), with_peer ? 5u : 1u);
    EXPECT_EQ(one["ratios"].size(), with_peer ? 4u : 0u);
    for (const json& c : one["contestants"]) {
      EXPECT_EQ(c["correct"], true) << c["name"];
      EXPECT_NE(c["how"], "");
    }
  }
  // The first of the layouts that the channels allow: 64 in blocks of 32, 20 in none.
  EXPECT_EQ(j["cases"][0]["workload"]["label"],
            "O[n,y,x,k,l] += I[n,2*y+r,2*x+s,c] * W[k,r,s,c,l]");
  EXPECT_EQ(j["cases"][1]["workload"]["label"], "nyxk-nyrxsc-rsck");
  EXPECT_GT(j["summary"]["of_peak"], 0);
  EXPECT_EQ(j["summary"]["peers"].size(), with_peer ? 4u : 0u);

  const Ran csv = bench(layers_, {"--format", "csv", "--case", "2"});
  EXPECT_EQ(lines(csv.out).size(), 1 + j["cases"][1]["contestants"].size());
  const Ran table = bench(layers_);
  for (const char* part :
       {"few:1 ", "64,3,5,5,3,3,2 ", "20,8,7,6,1,1,1 n2 ", "2 layers, geometric"}) {
    EXPECT_TRUE(contains(table.out, part)) << table.out;
  }
  EXPECT_EQ(contains(table.out, "below 0.9 beside oneDNN nchw or oneDNN blocked: "), with_peer);
  EXPECT_EQ(contains(table.out, "missing: oneDNN (apt-get install libdnnl-dev"), !with_peer);
  for (const std::string& line : lines(table.out)) EXPECT_LE(line.size(), 120u) << line;
}

TEST_F(Bench_conv, Layers_layouts_and_peers_are_those_that_were_named) {
  const json j = json::parse(bench(layers_, {"--case", "2", "--peers", "none", "--image-layout",
                                             "nhwc32k,nchw8c,nchw", "--format", "json"})
                                 .out);
  ASSERT_EQ(j["cases"].size(), 1u);
  EXPECT_EQ(j["cases"][0]["contestants"].size(), 1u);
  EXPECT_EQ(j["cases"][0]["workload"]["label"], "nkyx-ncyrxs-kcrs");
  EXPECT_TRUE(j["summary"]["peers"].empty());

  const Ran both = bench(layers_ + "," + layers_, {"--peers", "none", "--format", "json"});
  EXPECT_EQ(json::parse(both.out)["cases"].size(), 4u);
  // Of a suite that has other workloads its layers.
  const Ran mixed = bench(mixed_, {"--peers", "none", "--format", "json"});
  ASSERT_EQ(mixed.code, Exit::done) << mixed.err;
  ASSERT_EQ(json::parse(mixed.out)["cases"].size(), 1u);
  EXPECT_EQ(json::parse(mixed.out)["cases"][0]["workload"]["name"], "few:1");
}

// A layer that is called as one of ttile's Fig. 10, for which 2 vectors by 14 columns are best.
TEST_F(Bench_conv, Tilings_of_others_run_beside_tcsims_own) {
  const std::string named = file("named");
  std::ofstream(named)
      << "schema = 1\nname = \"resnet18\"\nsource = \"test\"\ntype = \"f32\"\n"
         "[[workload]]\nlabel = \"conv2d\"\nsizes = \"k=32,c=4,h=28,w=28,r=3,s=3\"\n";
  const auto tilings = [&](const std::string& suite, std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", "conv", "--tilings", "--suite", suite, "--machine", "zen5",
                               "--repetitions", "1"});
    return tcsim(more);
  };
  const Ran ran = tilings(named, {"--format", "json"});
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  const json one = json::parse(ran.out)["cases"][0];
  ASSERT_EQ(one["contestants"].size(), 3u);
  for (const json& c : one["contestants"]) EXPECT_EQ(c["correct"], true) << c["name"];
  EXPECT_EQ(one["contestants"][1]["name"], "ioopt");
  EXPECT_EQ(one["contestants"][2]["name"], "ttile");
  EXPECT_EQ(one["contestants"][2]["how"], "14H2K");
  EXPECT_TRUE(contains(one["schedules"]["ttile"], "kernel 32x14")) << one["schedules"];
  const Ran table = tilings(layers_, {"--case", "1"});
  ASSERT_EQ(lines(table.out).size(), 4u) << table.out;
  EXPECT_TRUE(contains(table.out, "layer           tcsim")) << table.out;
  EXPECT_TRUE(contains(lines(table.out)[2], "few:1")) << table.out;
  EXPECT_EQ(lines(tilings(named, {"--format", "csv"}).out).size(), 4u);
  EXPECT_TRUE(contains(tilings(named, {"--peers", "none"}).err, "has contestants of its own"));
  EXPECT_TRUE(contains(tilings("tccg", {"--case", "1"}).err, "it is no convolution of f32"));
  EXPECT_TRUE(contains(tcsim({"bench", "tccg", "--tilings"}).err, "no such option"));
  std::filesystem::remove(named);
}

TEST_F(Bench_conv, Stopped_it_prints_what_is_complete) {
  std::stop_source stop;
  stop.request_stop();
  const Ran ran = bench(layers_, {"--format", "json"}, stop.get_token());
  EXPECT_EQ(ran.code, Exit::interrupted);
  EXPECT_TRUE(contains(ran.err, "interrupted after 0 of 2 cases")) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["complete"], false);
}

TEST_F(Bench_conv, Errors_say_what_would_be_right) {
  struct Refused {
    std::string suite;
    std::vector<std::string> more;
    Exit code;
    std::string mend;
  };
  const std::vector<Refused> refused{
      {mixed_,
       {"--case", "2"},
       Exit::unsupported,
       "few:2: it is no convolution that the suite gives"},
      {"tccg", {}, Exit::unsupported, "use another suite, such as resnet18"},
      {doubles_, {}, Exit::unsupported, "write type = \"f32\""},
      {"resnet81", {}, Exit::usage, "resnet18"},
      {"resnet18,", {}, Exit::usage, ""},
      {"resnet18,yolo9000", {"--case", "1"}, Exit::usage, "name one of them with --suite"},
      {layers_, {"--image-layout", "nhwc32k,hwcn"}, Exit::usage, "layout 'hwcn' is unknown"},
      {layers_, {"--image-layout", "nhwc64k,nhwc32k"}, Exit::input, "no multiple of 32"},
      {layers_, {"--peers", "onedn"}, Exit::usage, "did you mean 'onednn'?"},
      {layers_, {"--neighbours", "3"}, Exit::usage, "bench conv has no such option"}};
  for (const auto& [suite, more, code, mend] : refused) {
    const Ran ran = bench(suite, more);
    EXPECT_EQ(ran.code, code) << suite << ran.err;
    EXPECT_TRUE(contains(ran.err, mend)) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  const Ran other = tcsim({"bench", "tccg", "--suite", "resnet18"});
  EXPECT_EQ(other.code, Exit::unsupported);
  EXPECT_TRUE(contains(other.err, "'bench conv' is for convolutions of f32")) << other.err;
  EXPECT_EQ(tcsim({"bench", "tccg", "--image-layout", "nhwc"}).code, Exit::usage);
}

TEST_F(Bench_conv, A_library_that_is_missing_is_named_with_how_to_get_it) {
  const std::vector<bench::Library> missing{
      {"onednn", "oneDNN", "", "apt-get install libdnnl-dev", false}};
  EXPECT_EQ(to_words(missing, {}), "peers: none\nmissing: oneDNN (apt-get install libdnnl-dev)\n");
  if (bench::onednn_installed()) return;
  const Ran ran = bench(layers_, {"--peers", "onednn"});
  EXPECT_EQ(ran.code, Exit::unsupported);
  EXPECT_TRUE(contains(ran.err, "oneDNN is not installed; apt-get install libdnnl-dev")) << ran.err;
}

}  // namespace
}  // namespace tcsim::cli
