// tcsim probe --levels, in each format, and the machine that it makes.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "chains/tensor_files.hpp"
#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

TEST(ProbeLevels, MakeAMachineThatFuseTakes) {
  const fs::path folder = test::scratch("probe_levels");
  fs::create_directory(folder);
  const std::string file = (folder / "levels.toml").string();
  std::vector<std::string> probe{"probe", "--levels", folder.string(), "--quick", "--out", file};
  const auto in_format = [&](const std::string& format) {
    std::vector<std::string> args = probe;
    args.insert(args.end(), {"--format", format});
    return tcsim(args);
  };
  const Ran r = in_format("json");
  if (!chains::has_tensor_files()) {
    EXPECT_EQ(r.code, Exit::unsupported);
    fs::remove_all(folder);
    return;
  }
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const json j = json::parse(r.out);
  EXPECT_EQ(j["command"], "probe --levels");
  EXPECT_EQ(j["processes"], 1);
  EXPECT_EQ(j["device"], nullptr);
  ASSERT_EQ(j["links"].size(), 2U);
  EXPECT_EQ(j["links"][0]["link"], "global-disk");
  EXPECT_EQ(j["links"][0]["large"]["in_seconds"].size(), 3U);
  EXPECT_GT(j["links"][1]["bandwidth_bytes_per_second"], 0);
  EXPECT_EQ(j["products_flops_per_second"].size(), 3U);
  EXPECT_EQ(j["small_tile_seconds"].size(), 3U);
  EXPECT_TRUE(contains(r.err, "machine file: " + file)) << r.err;

  const json fused = json::parse(
      tcsim({"fuse", "multilevel-small:1", "--machine", file, "--vary", "disk.bandwidth=1x,2x",
             "--vary", "local.capacity=0.5x,1x", "--format", "json"})
          .out);
  EXPECT_EQ(fused["machine"]["name"], "explicit-levels");
  EXPECT_EQ(fused["grid"]["points"].size(), 4U);
  // What was measured is not lost by measuring again.
  const Ran again = tcsim(probe);
  EXPECT_EQ(again.code, Exit::usage);
  EXPECT_TRUE(contains(again.err, "is there already; name another file, or add --force"))
      << again.err;
  probe.emplace_back("--force");
  EXPECT_EQ(tcsim({"probe", "--force", "--quick"}).code, Exit::usage);
  const Ran csv = in_format("csv");
  EXPECT_EQ(lines(csv.out).size(), 13U) << csv.out;
  const Ran table = tcsim(probe);
  for (const char* part :
       {"explicit levels of 1 process, on 1 computer; disk of ", "  global-disk ",
        "  local-global ", "  products: ", "  thin tiles: ", "  small tiles in a run: ",
        "half of the memory that was free", "(fsync)"}) {
    EXPECT_TRUE(contains(table.out, part)) << part << "\n" << table.out;
  }
  EXPECT_EQ(tcsim({"probe", "--levels", "/nowhere"}).code, Exit::input);
  EXPECT_TRUE(contains(tcsim({"probe", "--device"}).err, "add --levels FOLDER"));
  EXPECT_TRUE(contains(tcsim({"probe", "--tune-for", "5"}).err, "add --levels FOLDER --device"));
  EXPECT_TRUE(
      contains(tcsim({"probe", "--levels", ".", "--tune-for", "5"}).err, "add --device, or leave"));
  EXPECT_TRUE(contains(tcsim({"probe", "--levels", ".", "--device", "--tune-for", "-1"}).err,
                       "--tune-for: -1 is no time; give seconds, 0 to 86400"));
  EXPECT_TRUE(contains(tcsim({"probe", "--levels", ".", "--device", "--tune-for", "nan"}).err,
                       "is no time; give seconds, 0 to 86400"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(tcsim(probe, stop.get_token()).code, Exit::interrupted);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tcsim::cli
