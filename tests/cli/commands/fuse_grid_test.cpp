// tcsim fuse with several --vary, in each format.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// 384 MB pass the disk once, 1.27 GB a process's link to the others: as long at 0.33 GB/s.
std::vector<std::string> matrix_product(std::vector<std::string> more) {
  std::vector<std::string> args{
      "fuse",      "C[i,j] += A[i,k] * B[k,j]", "--size", "i=4000,j=4000,k=4000",
      "--machine", "gpu-cluster-node",          "--set",  "local.capacity=100kB",
      "--set",     "core.efficiency=1",         "--set",  "global.transfer=0"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}
const std::vector<std::string> two_knobs{"--vary", "disk.bandwidth=0.1GB/s,10GB/s", "--vary",
                                         "global.bandwidth=0.1GB/s,1GB/s"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(FuseGrid, ShowsTimesOfTwoKnobsWithWhatDecides) {
  const Ran r = tcsim(matrix_product(two_knobs));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  for (const char* part :
       {"\ntime, and what decides; down disk.bandwidth, across global.bandwidth\n",
        "\n           0.1GB/s     1GB/s\n", "\n  0.1GB/s  ", "\n  10GB/s   ",
        "\n  a  local-global\n", "\n  b  global-disk\n", "\n  *  on the Pareto front\n",
        "\nPareto front: no other is as fast with as little of every knob\n",
        "\n  disk.bandwidth  global.bandwidth  time ", "\ncrossovers\n",
        "  with disk.bandwidth of 0.1GB/s, from global.bandwidth of 0.3",
        " on: global-disk; below: local-global\n"}) {
    EXPECT_TRUE(contains(r.out, part)) << part << "\n" << r.out;
  }
  EXPECT_FALSE(contains(r.out, "twice as fast"));
}

TEST(FuseGrid, HasTheFieldsOfThePointsTheFrontAndTheCrossovers) {
  const json j = json::parse(
      tcsim(matrix_product(two_knobs + std::vector<std::string>{"--format", "json"})).out);
  EXPECT_EQ(j["curves"], json::array());
  const json& grid = j["grid"];
  EXPECT_EQ(grid["complete"], true);
  EXPECT_EQ(grid["cost_model"], nullptr);
  ASSERT_EQ(grid["knobs"].size(), 2U);
  EXPECT_EQ(grid["knobs"][0],
            (json{{"knob", "disk.bandwidth"}, {"unit", "bytes_per_second"}, {"value", 1e8}}));
  ASSERT_EQ(grid["points"].size(), 4U);
  EXPECT_EQ(grid["points"][1]["values"], (json{1e8, 1e9}));
  EXPECT_EQ(grid["points"][1]["bottleneck"], "global-disk");
  EXPECT_NEAR(grid["points"][1]["predicted_seconds"].get<double>(),
              j["predicted_seconds"].get<double>(), 1e-9);
  // Each takes less time than those that have less of a knob: all are on the front.
  for (const json& p : grid["points"]) EXPECT_EQ(p["pareto"], true) << p;
  ASSERT_GE(grid["crossovers"].size(), 2U);
  for (const json& c : grid["crossovers"]) {
    EXPECT_NE(c["from"], c["to"]);
    EXPECT_EQ(c["values"].size(), 2U);
  }
  // One knob is a curve still.
  const json one = json::parse(
      tcsim(matrix_product({"--vary", "disk.bandwidth=0.1GB/s,1GB/s", "--format", "json"})).out);
  EXPECT_EQ(one["curves"].size(), 1U);
  EXPECT_FALSE(one.contains("grid"));
}

TEST(FuseGrid, HasARowForEachPointAndCrossover) {
  const Ran r = tcsim(matrix_product(two_knobs + std::vector<std::string>{"--format", "csv"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const std::vector<std::string> all = lines(r.out);
  ASSERT_GE(all.size(), 7U);
  EXPECT_EQ(all[0],
            "chain,row,disk.bandwidth_bytes_per_second,global.bandwidth_bytes_per_second,"
            "predicted_seconds,bound_seconds,bottleneck,intermediates,cost,pareto,knob,from,to");
  EXPECT_TRUE(all[1].starts_with("chain,point,100000000,100000000,")) << all[1];
  EXPECT_TRUE(all[5].starts_with("chain,crossover,")) << all[5];
  for (const std::string& line : all) EXPECT_EQ(std::ranges::count(line, ','), 12) << line;
}

TEST(FuseGrid, ListsThreeKnobsAndMachinesThatCannotBe) {
  const Ran r =
      tcsim(matrix_product({"--vary", "global.processes=8,16", "--vary", "global.bandwidth=1x,2x",
                            "--vary", "local.capacity=100kB,64GB"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "\n  global.processes  global.bandwidth  local.capacity  time "))
      << r.out;
  EXPECT_TRUE(contains(r.out, "no such machine")) << r.out;
  EXPECT_TRUE(contains(r.out, "\n  16  ")) << r.out;
}

TEST(FuseGrid, SaysWhereNothingHasAnAnswer) {
  const Ran r =
      tcsim(matrix_product({"--vary", "local.capacity=8B,16B", "--vary", "disk.bandwidth=1x,2x"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(contains(r.out, "nothing fits")) << r.out;
  EXPECT_TRUE(contains(r.out, "\nno Pareto front: none of these machines has an answer\n"));
  EXPECT_FALSE(contains(r.out, "on the Pareto front")) << r.out;
}

TEST(FuseGrid, SetsTheTimeAgainstACost) {
  const fs::path file = test::scratch("cost.toml");
  // A price in dollars: of local memory only.
  std::ofstream(file) << "schema = 1\nname = \"dear\"\nprice = \"2 * area\"\n[[level]]\nname = "
                         "\"local\"\narea = \"capacity / 100000\"\n";
  const json j = json::parse(
      tcsim(matrix_product({"--vary", "local.capacity=100kB,200kB", "--vary",
                            "disk.bandwidth=1x,2x", "--cost", file.string(), "--format", "json"}))
          .out);
  const json& grid = j["grid"];
  EXPECT_EQ(grid["cost_model"], file.string());
  // A faster disk costs nothing.
  const std::vector<double> costs{2, 2, 4, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(grid["points"][i]["cost"].get<double>(), costs[i], 1e-9);
    EXPECT_EQ(grid["points"][i]["pareto"], i % 2 == 1) << i;
  }
  // Of one knob as well.
  const std::vector<std::string> one{"--vary", "local.capacity=100kB,200kB", "--cost",
                                     file.string()};
  const json curve = json::parse(
      tcsim(matrix_product(one + std::vector<std::string>{"--format", "json"})).out)["curves"][0];
  EXPECT_EQ(curve["knob"], "local.capacity");
  EXPECT_EQ(curve["value"], 100000);
  EXPECT_EQ(curve["cost_model"], file.string());
  EXPECT_EQ(curve["complete"], true);
  EXPECT_NEAR(curve["points"][1]["cost"].get<double>(), 4, 1e-9);
  EXPECT_EQ(curve["points"][1]["pareto"], true);
  const Ran table = tcsim(matrix_product(one));
  EXPECT_TRUE(contains(table.out, "\n  local.capacity  cost  time ")) << table.out;
  EXPECT_TRUE(contains(table.out, "\nPareto front: no other is as fast and as cheap by "))
      << table.out;
  const auto refused = [&](const std::vector<std::string>& more) {
    const Ran r = tcsim(matrix_product(more));
    EXPECT_NE(r.code, Exit::done);
    return r.err;
  };
  std::ofstream(file) << "schema = 1\nname = \"none\"\n";
  EXPECT_TRUE(contains(refused({"--vary", "disk.bandwidth=1x,2x", "--cost", file.string()}),
                       "has neither a price nor areas for gpu-cluster-node"));
  EXPECT_TRUE(contains(refused({"--cost", "45nm"}), "--cost: belongs to --vary"));
  EXPECT_TRUE(
      contains(refused({"--vary", "disk.bandwidth=1x,2x", "--vary", "disk.bandwidth=1x,2x"}),
               "disk.bandwidth varies twice; vary different knobs"));
  fs::remove(file);
}

}  // namespace
}  // namespace tcsim::cli
