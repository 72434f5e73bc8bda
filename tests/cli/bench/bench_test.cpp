// tcsim bench: its fields in every format, and what it refuses. Not how fast anything is.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/bench/bench.hpp"
#include "core/error.hpp"
#include "core/workload/random_contraction.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

class Bench : public testing::Test {
 protected:
  Bench() {
    std::ofstream(file_) << "schema = 1\nname = \"little\"\nsource = \"test\"\n"
                            "layout = \"column-major\"\ntype = \"f64\"\n"
                            "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=40,j=24,k=30\"\n"
                            "[[workload]]\nlabel = \"abc-adc-bd\"\n"
                            "sizes = \"a=12,b=10,c=3,d=14\"\n";
  }
  ~Bench() override { std::filesystem::remove(file_); }

  Ran bench(const std::string& name, std::vector<std::string> more = {},
            std::stop_token stop = {}) const {
    std::vector<std::string> args{"bench",     name,       "--suite",       file_,
                                  "--machine", "i7-6700k", "--repetitions", "1"};
    args.insert(args.end(), more.begin(), more.end());
    return tcsim(args, std::move(stop));
  }

  // Tests run at the same time, each in a process of its own.
  const std::string file_ = test::scratch("bench.toml").string();
};

TEST_F(Bench, Tccg_prints_the_same_cases_in_every_format) {
  const Ran ran = bench("tccg", {"--format", "json"});
  ASSERT_EQ(ran.code, Exit::done) << ran.err << ran.out;
  SCOPED_TRACE(ran.out);
  const json j = json::parse(ran.out);
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["command"], "bench tccg");
  EXPECT_EQ(j["machine"]["name"], "i7-6700k");
  EXPECT_EQ(j["repetitions"], 1);
  EXPECT_EQ(j["complete"], true);
  EXPECT_EQ(j["peers"].size(), 7u);
  for (const json& peer : j["peers"]) {
    EXPECT_EQ(peer["installed"].get<bool>(), peer.contains("version"));
    EXPECT_EQ(!peer["installed"].get<bool>(), peer.contains("install"));
  }
  ASSERT_EQ(j["cases"].size(), 2u);
  std::size_t contestants = 0;
  for (const json& one : j["cases"]) {
    EXPECT_TRUE(contains(one["schedule"], "kernel"));
    EXPECT_GT(one["peak_gflops"], 0);
    EXPECT_GT(one["memory_bytes_per_second"], 0);
    EXPECT_EQ(one["contestants"][0]["name"], "tcsim");
    contestants += one["contestants"].size();
    for (const json& c : one["contestants"]) {
      EXPECT_GT(c["gflops"], 0);
      EXPECT_LE(c["of_peak"].get<double>(), c["of_limit"].get<double>() * (1 + 1e-12));
      EXPECT_EQ(c["correct"], true) << c["name"];
    }
  }
  // A, B, and C twice, of 40 x 30, 30 x 24 and 40 x 24.
  EXPECT_EQ(j["cases"][0]["compulsory_bytes"], 8 * (1200 + 720 + 2 * 960));
  EXPECT_GT(j["summary"]["of_limit"], 0);

  const auto rows = lines(bench("tccg", {"--format", "csv"}).out);
  EXPECT_EQ(rows.size(), 1 + contestants);
  EXPECT_TRUE(rows[0].starts_with("schema,command,tcsim_version,machine,"));
  const Ran table = bench("tccg");
  for (const char* part : {"little:1", "little:2", "abc-adc-bd", "2 cases, geometric means"}) {
    EXPECT_TRUE(contains(table.out, part)) << table.out;
  }
}

TEST_F(Bench, Cases_and_peers_are_those_that_were_named) {
  const json j =
      json::parse(bench("tccg", {"--case", "2", "--peers", "none", "--format", "json"}).out);
  ASSERT_EQ(j["cases"].size(), 1u);
  EXPECT_EQ(j["cases"][0]["workload"]["name"], "little:2");
  EXPECT_EQ(j["cases"][0]["contestants"].size(), 1u);
  EXPECT_FALSE(j["cases"][0].contains("ratio"));
  EXPECT_FALSE(j["summary"].contains("ratio"));

  EXPECT_EQ(parse_cases("", "s", 3), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(parse_cases("3,1-2,2", "s", 3), (std::vector<std::size_t>{1, 2, 3}));
  for (const char* wrong : {"0", "4", "2-4", "2-1", "x", "1,", "1-2-3", "-1", "1.5"}) {
    EXPECT_THROW(parse_cases(wrong, "s", 3), UsageError) << wrong;
  }
}

// One of each kind, and one without; both types.
TEST_F(Bench, Hard_sums_up_by_kind) {
  std::ofstream(file_) << R"(schema = 1
name = "little"
source = "tests"
layout = "row-major"
type = "f64"
[[workload]]
label = "ab-ak-kb"
sizes = "a=9,b=8,k=7"
kind = "tiny"
[[workload]]
label = "hab-hak-hkb"
sizes = "a=9,b=8,k=7,h=5"
type = "f32"
kind = "batch"
[[workload]]
label = "conv2d"
sizes = "k=8,c=3,h=6,w=6,r=3,s=3"
[[workload]]
label = "a-ak-k"
sizes = "a=90,k=80"
kind = "batch"
)";
  const json j = json::parse(bench("hard", {"--format", "json"}).out);
  EXPECT_EQ(j["command"], "bench hard");
  ASSERT_EQ(j["cases"].size(), 3u) << "no convolution";
  EXPECT_EQ(j["cases"][0]["hot"], true);
  EXPECT_EQ(j["cases"][1]["hot"], false);
  for (const json& one : j["cases"]) {
    for (const json& c : one["contestants"]) EXPECT_EQ(c["correct"], true) << c["name"];
  }
  ASSERT_EQ(j["kinds"].size(), 2u);
  EXPECT_EQ(j["kinds"][0]["kind"], "tiny");
  EXPECT_EQ(j["kinds"][1]["kind"], "batch");
  EXPECT_EQ(j["kinds"][1]["cases"], 2);

  const json tiny = json::parse(bench("hard", {"--kind", "tiny", "--format", "json"}).out);
  ASSERT_EQ(tiny["cases"].size(), 1u);
  EXPECT_EQ(tiny["cases"][0]["workload"]["name"], "little:1");
  const Ran table = bench("hard", {"--peers", "none"});
  for (const char* part : {"hot caches", "ab-ak-kb f64 row", "hab-hak-hkb f32 row", "batch"}) {
    EXPECT_TRUE(contains(table.out, part)) << table.out;
  }
}

TEST_F(Bench, Random_draws_the_same_again_by_its_seed) {
  const auto drawn = [](const std::string& seed, const std::string& number) {
    const Ran ran = tcsim({"bench", "random", "--number", number, "--seed", seed, "--peers", "none",
                           "--machine", "i7-6700k", "--repetitions", "1", "--format", "json"});
    const json j = json::parse(ran.out);
    EXPECT_EQ(j["seed"].dump(), seed);
    std::vector<std::string> all;
    for (const json& c : j["cases"]) all.push_back(c["workload"].dump());
    return all;
  };
  const auto two = drawn("11", "2");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(drawn("11", "1").front(), two.front());
  EXPECT_NE(drawn("12", "1").front(), two.front());

  // A row has all that a case is run again by.
  const Contraction c = random_contractions(11, 1).front();
  const auto rows =
      lines(tcsim({"bench", "random", "--number", "1", "--seed", "11", "--peers", "none",
                   "--machine", "i7-6700k", "--repetitions", "1", "--format", "csv"})
                .out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(contains(rows[0], ",seed,workload,label,sizes,type,layout,contestant,"));
  EXPECT_TRUE(contains(rows[1], fmt::format(",11,{},{},\"{}\",{},{},tcsim,", c.name(), c.label(),
                                            c.sizes(), to_text(c.type()), to_text(c.layout()))))
      << rows[1];
}

TEST_F(Bench, Several_threads_stand_beside_one) {
  const auto ran = [](const char* threads, const char* form) {
    return tcsim({"bench", "random", "--number", "2", "--seed", "11", "--peers", "none",
                  "--machine", "i7-6700k", "--repetitions", "1", "--threads", threads, "--format",
                  form})
        .out;
  };
  const json j = json::parse(ran("2", "json"));
  EXPECT_EQ(j["threads"], 2);
  for (const json& one : j["cases"]) {
    ASSERT_EQ(one["contestants"].size(), 2u);
    EXPECT_EQ(one["contestants"][1]["name"], "tcsim, 2 threads");
    EXPECT_EQ(one["contestants"][1]["correct"], true);
    EXPECT_TRUE(one["contestants"][1]["of_limit"].is_null());
    EXPECT_DOUBLE_EQ(one["speed_up"].get<double>(),
                     one["contestants"][1]["gflops"].get<double>() /
                         one["contestants"][0]["gflops"].get<double>());
    EXPECT_FALSE(one.contains("best_peer")) << "it is no peer";
  }
  EXPECT_TRUE(j["summary"].contains("speed_up"));
  EXPECT_FALSE(j["summary"].contains("ratio"));
  EXPECT_EQ(lines(ran("2", "csv")).size(), 5u);
  const std::string table = ran("2", "table");
  EXPECT_TRUE(contains(table, "of tcsim on 2 threads (wall clock) over one")) << table;
  EXPECT_TRUE(contains(table, "; 2 threads ")) << table;
  EXPECT_FALSE(json::parse(ran("1", "json"))["summary"].contains("speed_up"));
  EXPECT_FALSE(contains(ran("1", "table"), "speed-up"));
}

TEST_F(Bench, Races_and_says_so) {
  const auto ran = [](const char* race, const char* form) {
    return tcsim({"bench", "random", "--number", "1", "--seed", "11", "--peers", "none",
                  "--machine", "i7-6700k", "--repetitions", "1", "--race", race, "--format", form})
        .out;
  };
  for (const int schedules : {1, 3}) {
    const std::string race = std::to_string(schedules);
    EXPECT_EQ(json::parse(ran(race.c_str(), "json"))["race"], schedules);
    const std::string words = "the fastest in a race of the " + race + " schedules";
    const std::string table = ran(race.c_str(), "table");
    EXPECT_EQ(contains(table, words), schedules > 1) << table;
  }
}

TEST_F(Bench, Regret_names_the_pick_and_the_best) {
  const Ran ran = bench("regret", {"--neighbours", "3", "--format", "json"});
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  const json j = json::parse(ran.out);
  EXPECT_EQ(j["command"], "bench regret");
  ASSERT_EQ(j["cases"].size(), 2u);
  for (const json& one : j["cases"]) {
    EXPECT_GE(one["regret"], 0);
    EXPECT_EQ(one["regret"].get<double>() > 0, one["difference"] != "");
    EXPECT_EQ(one["regret"].get<double>() > 0, one["pick"] != one["best"]);
    EXPECT_GE(one["best_of_peak"], one["pick_of_peak"]);
    EXPECT_GE(one["raced"].size(), 2u);
    EXPECT_EQ(one["raced"][0]["difference"], "");
  }
  EXPECT_EQ(j["summary"]["cases"], 2);
  const auto rows = lines(bench("regret", {"--neighbours", "1", "--format", "csv"}).out);
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_TRUE(contains(bench("regret", {"--neighbours", "1"}).out, "of 2 cases; regret "));
}

TEST_F(Bench, Stopped_it_prints_what_is_complete) {
  std::stop_source stop;
  stop.request_stop();
  for (const char* name : {"tccg", "regret"}) {
    const Ran ran = bench(name, {"--format", "json"}, stop.get_token());
    EXPECT_EQ(ran.code, Exit::interrupted);
    EXPECT_TRUE(contains(ran.err, "interrupted after 0 of 2 cases")) << ran.err;
    const json j = json::parse(ran.out);
    EXPECT_EQ(j["complete"], false);
    EXPECT_TRUE(j["cases"].empty());
  }
}

TEST_F(Bench, Errors_say_what_would_be_right) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused{
      {{"bench"}, "use one of tccg, hard, random, conv, small, kernels, regret"},
      {{"bench", "smal"}, "did you mean 'small'?"},
      {{"bench", "tccg", "--case", "37"}, "use numbers from 1 to 36"},
      {{"bench", "tccg", "--peers", "openblass"}, "did you mean 'openblas'?"},
      {{"bench", "tccg", "--suite", "tcg"}, "tccg"},
      {{"bench", "kernels", "--peers", "blis"}, "bench kernels has no such option"},
      {{"bench", "random", "--case", "3"}, "bench random has no such option"},
      {{"bench", "tccg", "--kind", "tiny"}, "bench tccg has no such option"},
      {{"bench", "hard", "--kind", "tinny"}, "did you mean 'tiny'?"},
      {{"bench", "random", "--number", "0"}, "give 1 to 100000"},
      {{"bench", "conv", "--race", "3"}, "bench conv has no such option"},
      {{"bench", "tccg", "--race", "0"}, "give 1 to 100"},
      {{"bench", "tccg", "--race", "3", "--schedule", "kernel 1x1"}, "leave out one of the two"},
      {{"bench", "small", "--case", "3"}, "bench small has no such option"},
      {{"bench", "small", "--layout", "row"}, "did you mean 'row-major'?"},
      {{"bench", "tccg", "--repetitions", "0"}, "give 1 to 1000"}};
  for (const auto& [args, mend] : refused) {
    const Ran ran = tcsim(args);
    EXPECT_EQ(ran.code, Exit::usage) << ran.out;
    EXPECT_TRUE(contains(ran.err, mend)) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

}  // namespace
}  // namespace tcsim::cli
