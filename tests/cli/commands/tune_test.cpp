// tcsim tune, and how run and report use what it found. The host is made up: a machine file with
// this processor's name and caches stands where a measured one would.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/tuned_file.hpp"
#include "core/machine/toml.hpp"
#include "core/workload/parse.hpp"
#include "microbench/host.hpp"
#include "microbench/keep.hpp"
#include "microbench/loops.hpp"
#include "microbench/team.hpp"
#include "microbench/topology.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string sizes = "i=96,j=72,k=80";

Contraction matmul() {
  return parse_contraction("ij-ik-kj", parse_sizes(sizes), Layout::row_major, ElementType::f64);
}

Machine made_up_host() {
  Machine m = find_machine("i7-6700k");
  const auto caches = merge(ask_sources(allowed_cpus().front(), 1)).topology.caches;
  const Level cache = m.levels[0], memory = m.levels.back();
  m.levels.clear();
  for (const CacheGeometry& c : caches) {
    Level l = cache;
    l.name = "L" + std::to_string(m.levels.size() + 1);
    l.capacity.value = c.capacity;
    l.ways.value = c.ways;
    l.line.value = c.line;
    l.shared_by = c.shared_by;
    m.levels.push_back(l);
  }
  m.levels.push_back(memory);
  m.name = "host";
  m.description = this_processor();
  m.core.vector_bits.value = loops_here()[0]->vector_bits;
  return m;
}

class TuneCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::scratch("tune");
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    ASSERT_TRUE(keep(made_up_host(), host_file()));
  }
  void TearDown() override {
    if (before_) {
      setenv("XDG_CACHE_HOME", before_->c_str(), 1);
    } else {
      unsetenv("XDG_CACHE_HOME");
    }
    fs::remove_all(folder_);
  }

  static Ran with(const std::string& command, std::vector<std::string> more = {}) {
    std::vector<std::string> args{command, "ij-ik-kj", "--size", sizes};
    args.insert(args.end(), more.begin(), more.end());
    return tcsim(args);
  }
  static json run_json(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--format", "json", "--repetitions", "1"});
    const Ran ran = with("run", more);
    EXPECT_EQ(ran.code, Exit::done) << ran.err;
    return json::parse(ran.out);
  }

  // As if it had been found.
  static constexpr const char* found =
      "groups m=j n=i k=k for n by 2 { for m by 4 { kernel 4x2 } }";
  static void remember(const std::string& schedule = found) {
    Tuned t;
    t.key = bench::tuned_key_here(matmul(), 1);
    t.schedule = schedule;
    t.measured = t.predicted = FlopsPerSecond(5e10);
    t.of_peak = 0.9;
    t.ratio = 1.07;
    t.date = "2026-11-22";
    t.tried = {1, 2, 3};
    ASSERT_TRUE(
        bench::change_tuned(bench::tuned_file(), [&](TunedSchedules& all) { all.add(t, {}); }));
  }

  fs::path folder_;
  std::optional<std::string> before_;
};

TEST_F(TuneCommand, Run_and_report_use_what_was_found_and_say_so) {
  remember();
  const std::string said = "tuned on 2026-11-22: 3 candidates, 1.07 times the model's choice";
  const json j = run_json();
  EXPECT_EQ(j["schedule"], found);
  EXPECT_EQ(j["tuned"]["date"], "2026-11-22");
  EXPECT_EQ(j["tuned"]["candidates"], 3);
  EXPECT_EQ(j["tuned"]["ratio"], 1.07);
  EXPECT_FALSE(j.contains("certificate"));
  EXPECT_TRUE(contains(with("run", {"--repetitions", "1"}).out, "schedule      " + said));
  const Ran csv = with("run", {"--repetitions", "1", "--format", "csv"});
  EXPECT_TRUE(contains(csv.err, said)) << csv.err;
  const Ran report = with("report", {"--no-run", "--format", "json"});
  EXPECT_EQ(json::parse(report.out)["schedule"], found) << report.err;
}

TEST_F(TuneCommand, What_asks_for_something_else_does_not_use_it) {
  remember();
  const std::string shipped = "i7-6700k";
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--untuned"},
                                               {"--schedule",
                                                "groups m=j n=i k=k for n by 4 { "
                                                "for m by 8 { kernel 8x4 } }"},
                                               {"--machine", shipped},
                                               {"--set", "core.fma_per_cycle=1"},
                                               {"--accounting", "paper"},
                                               {"--objective", "sum"},
                                               {"--divide"},
                                               {"--threads", "2"},
                                               {"--batched", "2"},
                                               {"--type", "f32"},
                                               {"--layout", "column-major"}}) {
    const json j = run_json(more);
    EXPECT_FALSE(j.contains("tuned")) << more[0];
    EXPECT_NE(j["schedule"], found) << more[0];
  }
  for (const char* command : {"predict", "optimize", "simulate"}) {
    const json j = json::parse(with(command, {"--format", "json"}).out);
    EXPECT_NE(j["schedule"], found) << command;
  }
}

TEST_F(TuneCommand, A_damaged_file_and_a_schedule_that_is_none_say_how_to_go_on) {
  remember("groups m=j n=i k=k kernel 4x2");
  const Ran bad = with("run");
  EXPECT_EQ(bad.code, Exit::input);
  EXPECT_TRUE(contains(bad.err, "tuned.toml: the schedule of ij-ik-kj: ")) << bad.err;
  EXPECT_TRUE(contains(bad.err, "use --untuned")) << bad.err;
  EXPECT_EQ(with("run", {"--untuned", "--repetitions", "1"}).code, Exit::done);
  std::ofstream(bench::tuned_file()) << "schema = 1\n[[tuned\n";
  for (const char* command : {"run", "tune"}) {
    const Ran damaged = with(command);
    EXPECT_EQ(damaged.code, Exit::input);
    EXPECT_TRUE(contains(damaged.err, "tuned.toml:2:")) << damaged.err;
    EXPECT_TRUE(contains(damaged.err, "'tcsim tune --forget all'")) << damaged.err;
  }
  EXPECT_EQ(tcsim({"tune", "--forget", "all"}).code, Exit::done);
  EXPECT_FALSE(run_json().contains("tuned"));
}

TEST_F(TuneCommand, Is_listed_and_forgotten) {
  EXPECT_EQ(lines(tcsim({"list", "tuned"}).out).size(), 1u);
  remember();
  const json rows = json::parse(tcsim({"list", "tuned", "--format", "json"}).out)["rows"];
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["label"], "ij-ik-kj");
  EXPECT_EQ(rows[0]["schedule"], found);
  EXPECT_TRUE(contains(with("tune", {"--forget"}).out, "1 tuned schedule is forgotten"));
  EXPECT_TRUE(contains(with("tune", {"--forget"}).out, "0 tuned schedules are forgotten"));
  remember();
  EXPECT_TRUE(contains(tcsim({"tune", "--forget", "all"}).out, "all tuned schedules"));
  EXPECT_TRUE(contains(tcsim({"tune", "--forget", "all"}).out, "there were no"));
}

TEST_F(TuneCommand, Finds_keeps_and_goes_on) {
  const std::vector<std::string> how{"--budget", "1s", "--format", "json"};
  const Ran ran = with("tune", how);
  ASSERT_EQ(ran.code, Exit::done) << ran.err;
  const json j = json::parse(ran.out);
  EXPECT_EQ(j["command"], "tune");
  EXPECT_EQ(j["complete"], true);
  const json& one = j["workloads"][0];
  EXPECT_EQ(one["kept"], true);
  EXPECT_EQ(one["candidates"], one["ran"].size());
  EXPECT_EQ(one["ran"][0]["schedule"], one["schedule"]);
  const json run = run_json();
  EXPECT_EQ(run["schedule"], one["schedule"]);
  EXPECT_EQ(run["tuned"]["candidates"], one["candidates"]);
  const json again = json::parse(with("tune", how).out)["workloads"][0];
  EXPECT_GE(again["candidates"], one["candidates"]);
  EXPECT_GT(again["candidates"].get<int>(), 0);
}

TEST_F(TuneCommand, For_another_machine_nothing_is_kept) {
  const std::vector<std::string> how{"--machine", "i7-6700k", "--budget", "200ms"};
  const Ran table = with("tune", how);
  ASSERT_EQ(table.code, Exit::done) << table.err;
  for (const char* part : {"the model's choice", "% of peak", "candidates in all", "not kept",
                           "schedule\ngroups m=j n=i k=k"}) {
    EXPECT_TRUE(contains(table.out, part)) << part << table.out;
  }
  EXPECT_FALSE(fs::exists(bench::tuned_file()));
  const auto rows =
      lines(with("tune", {"--machine", "i7-6700k", "--budget", "100ms", "--format", "csv"}).out);
  EXPECT_EQ(rows.size(), 2u);
}

TEST_F(TuneCommand, Faults_are_named) {
  EXPECT_TRUE(contains(with("tune", {"--budget", "60"}).err,
                       "--budget: '60': '' is no unit of time; write a time such as 60s"));
  EXPECT_EQ(with("tune", {"--budget", "60"}).code, Exit::usage);
  EXPECT_TRUE(contains(tcsim({"tune"}).err, "a WORKLOAD is missing"));
  EXPECT_TRUE(contains(tcsim({"tune", "--forget"}).err, "a WORKLOAD is missing"));
}

TEST_F(TuneCommand, Stopped_before_it_ran_anything_it_says_so) {
  std::stop_source stop;
  stop.request_stop();
  const Ran ran =
      tcsim({"tune", "ij-ik-kj", "--size", sizes, "--format", "json"}, stop.get_token());
  EXPECT_EQ(ran.code, Exit::interrupted);
  EXPECT_TRUE(contains(ran.err, "interrupted after 0 of 1 workloads")) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["complete"], false);
}

}  // namespace
}  // namespace tcsim::cli
