// tcsim whatif, and what report says would help.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

std::vector<std::string> whatif(std::vector<std::string> more) {
  more.insert(more.begin(), {"--accounting", "paper"});
  return with_matmul("whatif", more);
}

json parsed(const std::vector<std::string>& args) {
  const Ran r = tcsim(args);
  EXPECT_EQ(r.code, Exit::done) << r.err;
  return json::parse(r.out);
}

TEST(Whatif, A_cost_model_adds_energy_area_and_what_more_is_worth) {
  const json j = parsed(whatif({"--cost", "45nm", "--format", "json"}));
  double joules = 0, area = 0;
  for (const auto& part : j["cost"]["parts"]) {
    joules += part["standing_joules"].get<double>();
    if (!part["joules"].is_null()) joules += part["joules"].get<double>();
    if (!part["area_mm2"].is_null()) area += part["area_mm2"].get<double>();
  }
  EXPECT_NEAR(j["cost"]["joules"].get<double>(), joules, 1e-9 * joules);
  EXPECT_NEAR(j["cost"]["area_mm2"].get<double>(), area, 1e-9 * area);
  EXPECT_FALSE(j["worth"].empty());
  const Ran table = tcsim(whatif({"--cost", "45nm"}));
  EXPECT_NE(table.out.find("energy and area by 45nm"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("would more help?"), std::string::npos);
  const Ran csv = tcsim(whatif({"--worth", "--format", "csv"}));
  std::size_t rows = 0;
  for (auto at = csv.out.find(",worth,"); at != csv.out.npos;
       at = csv.out.find(",worth,", at + 1)) {
    ++rows;
  }
  EXPECT_EQ(rows, j["worth"].size());
  EXPECT_FALSE(parsed(whatif({"--format", "json"})).contains("worth"));
  const Ran wrong = tcsim(whatif({"--cost", "44nm"}));
  EXPECT_EQ(wrong.code, Exit::usage);
  EXPECT_NE(wrong.err.find("did you mean '45nm'?"), std::string::npos) << wrong.err;
}

TEST(Whatif, Prints_a_table_json_and_csv_with_the_same_numbers) {
  const std::vector<std::string> vary{"--vary", "L1.bandwidth=1x..8x:5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), vary.begin(), vary.end());
    return whatif(more);
  };
  const json j = parsed(with({"--format", "json"}));
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["command"], "whatif");
  EXPECT_EQ(j["machine"]["name"], "i7-6700k");
  EXPECT_EQ(j["accounting"]["halve_register_loads"], true);
  EXPECT_EQ(j["complete"], true);
  EXPECT_EQ(j["vary"][0]["knob"], "L1.bandwidth");
  EXPECT_EQ(j["vary"][0]["unit"], "bytes_per_cycle");
  EXPECT_EQ(j["vary"][0]["value"], 19.36);
  ASSERT_EQ(j["points"].size(), 5u);
  EXPECT_EQ(j["points"][0]["factor"], 1);
  EXPECT_EQ(j["points"][0]["predicted_seconds"], j["predicted_seconds"]);
  EXPECT_EQ(j["points"][0]["bottleneck"], j["bottleneck"]);
  for (const json& p : j["points"]) {
    // 2 x 96 x 72 x 80 flops
    EXPECT_NEAR(p["predicted_gflops"].get<double>() * p["predicted_seconds"].get<double>() * 1e9,
                1105920, 1e-3);
    EXPECT_TRUE(contains(p["schedule"], "kernel"));
  }
  ASSERT_GE(j["crossovers"].size(), 1u);
  EXPECT_EQ(j["crossovers"][0]["knob"], "L1.bandwidth");
  EXPECT_EQ(j["crossovers"][0]["from"], "L1-register");
  EXPECT_NEAR(j["crossovers"][0]["value"].get<double>(),
              19.36 * j["crossovers"][0]["factor"].get<double>(), 1e-9);
  EXPECT_EQ(j["crossovers"][0]["packing"].size(), 3u);
  EXPECT_EQ(j["elasticities"].size(), 15u);
  EXPECT_EQ(j["elasticities"][2]["knob"], "L1.bandwidth");
  EXPECT_LT(j["elasticities"][2]["up"]["elasticity"], -0.9);
  EXPECT_EQ(j["larger_caches"].size(), 3u);

  const Ran csv = tcsim(with({"--format", "csv"}));
  const auto rows = lines(csv.out);
  const auto head = rows.front();
  EXPECT_TRUE(head.starts_with("schema,command,tcsim_version,workload,")) << head;
  std::size_t points = 0, crossovers = 0, elasticities = 0;
  for (const std::string& row : rows) {
    points += contains(row, ",paper,point,L1.bandwidth,bytes_per_cycle,") ? 1 : 0;
    crossovers += contains(row, ",paper,crossover,L1.bandwidth,") ? 1 : 0;
    elasticities += contains(row, ",paper,elasticity,") ? 1 : 0;
  }
  EXPECT_EQ(points, 5u);
  EXPECT_EQ(crossovers, j["crossovers"].size());
  std::size_t steps = 0;
  for (const json& e : j["elasticities"]) steps += e.contains("up") + e.contains("down");
  EXPECT_EQ(elasticities, steps);
  EXPECT_TRUE(contains(rows[5], j["points"][4]["predicted_seconds"].dump())) << rows[5];

  const Ran table = tcsim(with({}));
  EXPECT_EQ(table.code, Exit::done) << table.err;
  for (const char* part :
       {"as it is: ", "every machine gets the best schedule for it", "19.36B/cycle", "154.9B/cycle",
        "L1-register to ", "computation only (this accounting)", "elasticities",
        "core.frequency"}) {
    EXPECT_TRUE(contains(table.out, part)) << part << "\n" << table.out;
  }
  EXPECT_TRUE(contains(table.out, j["text"].get<std::string>())) << table.out;
}

TEST(Whatif, Two_knobs_make_a_table_of_bottlenecks_and_one_of_times) {
  const std::vector<std::string> vary{"--vary", "L1.bandwidth=0.5x,2x", "--vary",
                                      "L2.bandwidth=1x,1.05x"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), vary.begin(), vary.end());
    return whatif(more);
  };
  const json j = parsed(with({"--format", "json"}));
  ASSERT_EQ(j["points"].size(), 4u);
  // 9.68 B/cycle from L1 inside 18.32 from L2
  EXPECT_FALSE(j["points"][0].contains("predicted_seconds"));
  EXPECT_TRUE(contains(j["points"][0]["remark"], "L2 (18.32B/cycle) is faster than L1"));
  EXPECT_EQ(j["points"][2]["values"], (std::vector<double>{38.72, 18.32}));
  EXPECT_GT(j["points"][2]["predicted_seconds"], 0);
  const Ran table = tcsim(with({}));
  EXPECT_TRUE(contains(table.out, "bottleneck; down L1.bandwidth, across L2.bandwidth"));
  EXPECT_TRUE(contains(table.out, "time; down L1.bandwidth, across L2.bandwidth"));
  EXPECT_TRUE(contains(table.out, "-  no such machine: L2 (18.32B/cycle) is faster")) << table.out;
  const auto rows = lines(tcsim(with({"--format", "csv"})).out);
  EXPECT_TRUE(contains(rows[3],
                       ",L1.bandwidth,bytes_per_cycle,38.72,2,L2.bandwidth,"
                       "bytes_per_cycle,18.32,1,"))
      << rows[3];
}

TEST(Whatif, Without_knobs_it_tells_the_elasticities) {
  const json j = parsed(whatif({"--format", "json"}));
  EXPECT_EQ(j["points"].size(), 0u);
  EXPECT_EQ(j["vary"].size(), 0u);
  EXPECT_EQ(j["elasticities"].size(), 15u);
  EXPECT_GT(j["predicted_seconds"], 0);
}

TEST(Whatif, A_fixed_schedule_is_the_same_everywhere) {
  const json j = parsed(
      whatif({"--format", "json", "--fixed-schedule", "--vary", "L1.capacity=4KiB..256KiB:5"}));
  EXPECT_EQ(j["fixed_schedule"], true);
  for (const json& p : j["points"]) EXPECT_EQ(p["schedule"], j["schedule"]);
  const char* const given = "groups m=j n=i k=k for n by 6 { for m by 8 { kernel 8x6 } }";
  const json k = parsed(
      whatif({"--format", "json", "--schedule", given, "--vary", "L1.capacity=4KiB..256KiB:5"}));
  EXPECT_EQ(k["schedule"], given);
  EXPECT_EQ(k["points"][3]["schedule"], given);
}

TEST(Whatif, A_suite_ends_with_all_of_its_workloads_together) {
  const auto file = test::scratch("whatif_test.toml");
  std::ofstream(file) << "schema = 1\nname = \"two\"\nlayout = \"column-major\"\n"
                         "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=40,j=48,k=56\"\n"
                         "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=80,j=24,k=16\"\n";
  const std::vector<std::string> args{"whatif",       file.string(), "--machine",
                                      "i7-6700k",     "--vary",      "memory.bandwidth=0.25x..1x:3",
                                      "--accounting", "paper"};
  const Ran table = tcsim(args);
  EXPECT_EQ(table.code, Exit::done) << table.err;
  EXPECT_TRUE(contains(table.out, "all 2 workloads")) << table.out;
  std::vector<std::string> as_json = args;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json j = parsed(as_json);
  ASSERT_EQ(j["results"].size(), 2u);
  ASSERT_EQ(j["total"].size(), 3u);
  double sum = 0;
  for (const json& r : j["results"]) sum += r["points"][1]["predicted_seconds"].get<double>();
  EXPECT_EQ(j["total"][1]["predicted_seconds"].get<double>(), sum);
  int decided = 0;
  for (const auto& [name, count] : j["total"][1]["bottlenecks"].items())
    decided += count.get<int>();
  EXPECT_EQ(decided, 2);
  std::filesystem::remove(file);
}

TEST(Whatif, Says_where_a_range_had_to_end) {
  const Ran r = tcsim(whatif({"--vary", "memory.bandwidth=1x..4x:3"}));
  EXPECT_EQ(r.code, Exit::done);
  EXPECT_TRUE(contains(r.err, "note: memory.bandwidth ends at 12.8B/cycle: ")) << r.err;
  EXPECT_TRUE(contains(r.out, "memory.bandwidth ends at 12.8B/cycle: ")) << r.out;
}

TEST(Whatif, Wrong_wishes_are_named_with_what_would_be_right) {
  struct Case {
    std::vector<std::string> args;
    std::string said;
  };
  const Case cases[] = {
      {{"--vary", "L9.capacity=1MiB..2MiB"}, "L9.capacity: no such knob; what can be varied is"},
      {{"--vary", "L3.capacity"}, "L3.capacity: no values; write LOW..HIGH"},
      {{"--vary", "L3.ways=1..4", "--vary", "L3.ways=4..8"}, "--vary: L3.ways varies twice"},
      {{"--vary", "L1.ways=1,2", "--vary", "L2.ways=1,2", "--vary", "L3.ways=1,2"},
       "--vary: 3 knobs vary; vary at most two at once"},
      {{"--model", "listing3"}, "--model: whatif chooses and predicts by one model"},
  };
  for (const Case& c : cases) {
    const Ran r = tcsim(whatif(c.args));
    EXPECT_EQ(r.code, Exit::usage);
    EXPECT_TRUE(contains(r.err, c.said)) << r.err;
    EXPECT_EQ(r.out, "");
  }
}

TEST(Whatif, Interrupted_before_anything_is_there_it_prints_an_empty_document) {
  std::stop_source stop;
  stop.request_stop();
  const Ran r =
      tcsim(whatif({"--vary", "L3.capacity=1MiB..2MiB", "--format", "csv"}), stop.get_token());
  EXPECT_EQ(r.code, Exit::interrupted);
  EXPECT_EQ(lines(r.out).size(), 1u);
  EXPECT_TRUE(contains(r.err, "interrupted")) << r.err;
}

// acmtc-sc19, 6.3; the numbers are worked out in tests/core/explore/curve_test.cpp.
TEST(Whatif, Reproduces_the_papers_example) {
  const Ran r = tcsim({"whatif", "tccg:29", "--machine", "e5-2680v4", "--accounting", "paper",
                       "--vary", "memory.bandwidth=1x,1.05x,1.5x"});
  EXPECT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "+19.7 %  L3-memory to L1-register")) << r.out;
  EXPECT_TRUE(contains(r.out, "+20.7 %  with packing's reads")) << r.out;
  EXPECT_TRUE(contains(r.out, "+21.6 %  with packing's reads and writes")) << r.out;
  EXPECT_TRUE(contains(r.out, "A larger L1, L2 or L3 changes nothing")) << r.out;
}

TEST(Report, Says_what_would_help) {
  const Ran table = tcsim(with_matmul("report", {"--no-run"}));
  EXPECT_EQ(table.code, Exit::done) << table.err;
  EXPECT_TRUE(contains(table.out, "\nwhat would help\n  +1.0 % ")) << table.out;
  EXPECT_TRUE(contains(table.out, "compute roof"));
  const json j = parsed(with_matmul("report", {"--no-run", "--format", "json"}));
  EXPECT_TRUE(contains(table.out, j["what_would_help"]["text"].get<std::string>()));
  EXPECT_EQ(j["what_would_help"]["elasticities"].size(), 15u);
  const json without =
      parsed(with_matmul("report", {"--no-run", "--no-whatif", "--format", "json"}));
  EXPECT_FALSE(without.contains("what_would_help"));
}

TEST(Report, Has_what_no_order_moves_less_than) {
  const Ran table = tcsim(with_matmul("report", {"--no-run", "--no-whatif"}));
  EXPECT_TRUE(contains(table.out, "     bound "));
  EXPECT_TRUE(contains(table.out, "bound: no order of the multiply-adds moves less")) << table.out;
  const json j = parsed(with_matmul("report", {"--no-run", "--no-whatif", "--format", "json"}));
  for (const json& level : j["levels"]) {
    EXPECT_GT(level["bound_bytes"], 0);
    EXPECT_LE(level["bound_bytes"], level["simulated_bytes"]);
  }
  const json given = parsed(with_matmul("predict", {"--format", "json"}));
  EXPECT_FALSE(given["levels"][0].contains("bound_bytes"));
}

// A 2x3 kernel loads more than the one that would be chosen.
TEST(Report, Keeps_a_given_schedule_when_it_says_what_would_help) {
  const json j = parsed(
      with_matmul("report", {"--no-run", "--no-simulate", "--format", "json", "--schedule",
                             "groups m=j n=i k=k for n by 3 { for m by 2 { kernel 2x3 } }"}));
  const json best = parsed(with_matmul("predict", {"--format", "json"}));
  EXPECT_GT(j["predicted_seconds"], best["predicted_seconds"]);
  for (const json& cache : j["what_would_help"]["larger_caches"]) {
    EXPECT_EQ(cache["predicted_seconds"], j["predicted_seconds"]);
  }
}

TEST(Cores, Results_are_those_of_one_of_them) {
  const json one = parsed(with_matmul("simulate", {"--format", "json"}));
  const json four =
      parsed(with_matmul("simulate", {"--format", "json", "--set", "core.cores=4", "--schedule",
                                      one["schedule"].get<std::string>()}));
  EXPECT_NE(one["machine"]["hash"], four["machine"]["hash"]);
  const Ran table = tcsim(with_matmul("predict", {"--set", "core.cores=4"}));
  EXPECT_TRUE(contains(table.out, "each of 4 cores at work")) << table.out;
}

}  // namespace
}  // namespace tcsim::cli
