// What tcsim probe prints, of a measurement that is made up, in each format.
#include "cli/probe_result.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/microbench/made_up.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

Probed made_up_probe() { return assemble(made_up_topology(), "made up", made_up_measurement()); }

std::string printed(Format format, const Probed& probed = made_up_probe()) {
  std::ostringstream out;
  print(probed, format, out);
  return out.str();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string run(const std::vector<std::string>& args, Exit expected, std::stop_token stop = {}) {
  std::ostringstream out, err;
  Context context{out, err, std::move(stop)};
  EXPECT_EQ(main(args, context), expected) << err.str();
  EXPECT_EQ(out.str(), "");
  return err.str();
}

TEST(Probe_table, It_has_levels_mixes_core_method_and_remarks) {
  const std::string table = printed(Format::table);
  for (const char* part :
       {"1 package, 2 cores, 2 hardware threads, 1 NUMA node (from made up)",
        "NUMA node 0: 2 cores, 1.0 GiB",
        // 80 GB/s at 2 GHz, 4 cycles of half a nanosecond.
        "L1          32KiB     8       1  8 KiB - 16 KiB", "80.0    40.00    0.0%",
        "4 cycles    2.0 ns", "64 KiB - 512 KiB",
        "GB/s, one core            load-fma-store           load           copy          triad",
        "L1      AVX2     f64             80.0           40.0              -              -",
        "2GHz sustained", "AVX2     f64           4.02", "32.0", "64.0",
        "steps of 20 ns, 25 ns to read", "huge pages asked for, 8 of 8 MiB on them",
        "5 of each series in 5 rounds, 0 disturbed ones left out", "a remark of the topology"}) {
    EXPECT_TRUE(contains(table, part)) << part << "\n" << table;
  }
  EXPECT_FALSE(contains(table, " unstable\n"));
}

TEST(Probe_table, An_unstable_level_is_marked) {
  Measured m = made_up_measurement();
  for (BandwidthSeries& s : m.streams[2]) s.unstable = true;
  const std::string table =
      printed(Format::table, assemble(made_up_topology(), "made up", std::move(m)));
  EXPECT_TRUE(contains(table, " unstable\n")) << table;
  EXPECT_TRUE(contains(table, "10.0*")) << table;
}

TEST(Probe_json, It_has_every_repetition_with_units_in_the_names) {
  const auto j = nlohmann::json::parse(printed(Format::json));
  EXPECT_EQ(j["schema"], 1);
  EXPECT_EQ(j["command"], "probe");
  EXPECT_EQ(j["machine"]["name"], "host");
  EXPECT_EQ(j["topology"]["numa_nodes"][0]["memory_bytes"], 1LL << 30);
  EXPECT_EQ(j["core"]["frequency_hertz"], 2e9);
  EXPECT_EQ(j["core"]["peaks"][1]["cores"], 2);
  EXPECT_EQ(j["core"]["peaks"][1]["repetitions_flops_per_second"][0], 64e9);
  EXPECT_EQ(j["core"]["fma_latencies"][0]["cycles"], 4.02);
  ASSERT_EQ(j["levels"].size(), 3u);
  const auto& level = j["levels"][0];
  EXPECT_EQ(level["bandwidth_bytes_per_second"], 80e9);
  EXPECT_EQ(level["bandwidth_bytes_per_cycle"], 40);
  EXPECT_EQ(level["latency_seconds"], 2e-9);
  EXPECT_EQ(level["unstable"], false);
  ASSERT_EQ(level["series"].size(), 6u);  // 8, 16 and 32 KiB of two mixes
  EXPECT_EQ(level["series"][0]["mix"], "load-fma-store");
  EXPECT_EQ(level["series"][0]["repetitions_bytes_per_second"].size(), 5u);
  EXPECT_EQ(j["load_latency_curve"].size(), 3u);
  EXPECT_EQ(j["method"]["repetitions"], 5);
  EXPECT_EQ(j["remarks"][0], "a remark of the topology");
}

TEST(Probe_csv, It_has_one_row_for_each_series) {
  std::istringstream in(printed(Format::csv));
  std::vector<std::string> rows;
  for (std::string row; std::getline(in, row);) rows.push_back(row);
  // The head, 11 working sets of two mixes, two peaks.
  ASSERT_EQ(rows.size(), 1u + 22u + 2u);
  EXPECT_EQ(rows[1], "L1,load-fma-store,AVX2,8,1,8192,80000000000,40,,0,false,5");
  EXPECT_EQ(rows.back(), "core,fma,AVX2,8,2,,,,64000000000,0,false,1");
  const auto commas = [](const std::string& row) {
    return std::count(row.begin(), row.end(), ',');
  };
  for (const std::string& row : rows) EXPECT_EQ(commas(row), commas(rows[0])) << row;
}

TEST(Probe_command, A_file_that_cannot_be_written_is_refused_before_the_work) {
  EXPECT_TRUE(
      contains(run({"probe", "--out", "/nonexistent/x.toml"}, Exit::usage), "cannot be written"));
}

TEST(Probe_command, A_stop_leaves_no_file) {
  const auto file = test::scratch("probe_stop_test.toml");
  std::filesystem::remove(file);
  std::stop_source stop;
  stop.request_stop();
  run({"probe", "--quick", "--out", file.string()}, Exit::interrupted, stop.get_token());
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Probe_command, A_stop_leaves_the_file_that_was_there) {
  const auto file = test::scratch("probe_keep_test.toml");
  std::ofstream(file) << "old\n";
  std::stop_source stop;
  stop.request_stop();
  run({"probe", "--quick", "--out", file.string()}, Exit::interrupted, stop.get_token());
  std::string line;
  std::getline(std::ifstream(file), line);
  EXPECT_EQ(line, "old");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace tcsim::cli
