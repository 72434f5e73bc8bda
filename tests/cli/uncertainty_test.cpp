// What commands say of how sure a bottleneck is. The machine is an i7-6700k whose L1 was measured
// three times, with 18.6, 19.36 and 20 bytes per cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run.hpp"
#include "tests/scratch.hpp"
#include "tests/source_dir.hpp"

namespace tcsim::cli {
namespace {

using nlohmann::json;

class Measurements : public testing::Test {
 protected:
  Measurements() {
    std::ifstream in(std::filesystem::path(TCSIM_SOURCE_DIR) / "machines/i7-6700k.toml");
    std::ofstream out(file_);
    int levels = 0;
    for (std::string line; std::getline(in, line);) {
      if (line == "[[level]]" && ++levels == 2) {
        out << "[[level.series]]\nmix = \"load-fma-store\"\nelement = \"8B\"\n"
               "instruction_set = \"AVX2\"\ncores = 1\nworking_set = \"16KiB\"\n"
               "frequency = \"4GHz\"\nbytes_per_second = [7.44e10, 7.744e10, 8e10]\n\n";
      }
      out << line << "\n";
    }
  }

  ~Measurements() override { std::filesystem::remove(file_); }

  Ran with(const std::string& command, const std::vector<std::string>& more,
           const std::string& machine = "") const {
    std::vector<std::string> args{command,     "ij-ik-kj",
                                  "--size",    "i=96,j=72,k=80",
                                  "--machine", machine.empty() ? file_.string() : machine};
    args.insert(args.end(), more.begin(), more.end());
    Ran r = tcsim(args);
    EXPECT_EQ(r.code, Exit::done) << r.err;
    return r;
  }
  json record(const std::string& command, std::vector<std::string> more,
              const std::string& machine = "") const {
    more.insert(more.end(), {"--format", "json"});
    return json::parse(with(command, more, machine).out);
  }

 private:
  std::filesystem::path file_ = test::scratch("measured.toml");
};

// L1-register takes 17.38 us by the figure and computing 17.28 us, other links half of that: L1
// decides by its first two measurements, computing by the third (17.38 x 19.36 / 20 = 16.82 us).
TEST_F(Measurements, Report_says_how_sure_the_bottleneck_is) {
  const Ran r = with("report", {"--no-run", "--no-whatif"});
  EXPECT_TRUE(contains(r.out,
                       "  bottleneck    L1-register\n"
                       "  how sure      L1-register in 67 of 100 draws of the measured rates; "
                       "compute in the others; L1-L2, L2-L3, L3-memory, compute are taken as "
                       "exact\n"
                       "                17.28 us to 18.09 us in 90 of 100\n"))
      << r.out;
}

TEST_F(Measurements, Json_has_the_shares_and_the_band) {
  const json j = record("report", {"--no-run", "--no-whatif"});
  const double l1 = j["levels"][0]["predicted_seconds"], compute = j["compute_seconds"];
  const json& u = j["uncertainty"];
  ASSERT_EQ(u["deciders"].size(), 2u);
  EXPECT_EQ(u["deciders"][0]["name"], "L1-register");
  EXPECT_NEAR(u["deciders"][0]["share"].get<double>(), 2 / 3.0, 1e-12);
  EXPECT_EQ(u["deciders"][1]["name"], "compute");
  EXPECT_NEAR(u["deciders"][1]["share"].get<double>(), 1 / 3.0, 1e-12);
  EXPECT_EQ(u["predicted_seconds_5"], compute);
  EXPECT_NEAR(u["predicted_seconds_95"].get<double>(), l1 * 19.36 / 18.6, 1e-12);
  EXPECT_EQ(u["no_spread"], (json{"L1-L2", "L2-L3", "L3-memory", "compute"}));
}

TEST_F(Measurements, Csv_has_the_share_of_each_level) {
  const std::vector<std::string> rows = lines(with("predict", {"--format", "csv"}).out);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_TRUE(contains(rows[0],
                       ",bottleneck_share,level_bottleneck_share,predicted_seconds_5,"
                       "predicted_seconds_95,"));
  EXPECT_TRUE(contains(rows[1], ",L1-register,,0.666666666666666")) << rows[1];
  EXPECT_TRUE(contains(rows[4], ",0,1.728e-05,1.8085")) << rows[4];
}

TEST_F(Measurements, Of_published_figures_nothing_is_said) {
  EXPECT_TRUE(contains(with("report", {"--no-simulate", "--no-whatif"}, "i7-6700k").out,
                       "  how sure      not known: no rate of this machine has measured "
                       "repetitions\n"));
  EXPECT_TRUE(
      record("report", {"--no-simulate", "--no-whatif"}, "i7-6700k")["uncertainty"].is_null());
  EXPECT_TRUE(contains(with("whatif", {}, "i7-6700k").out,
                       "how sure: not known: no rate of this machine has measured repetitions\n"));
  EXPECT_FALSE(contains(with("predict", {}, "i7-6700k").out, "how sure"));
}

TEST_F(Measurements, A_figure_that_is_set_has_no_spread_and_one_that_is_scaled_keeps_it) {
  EXPECT_TRUE(record("predict", {"--set", "L1.bandwidth=19B/cycle"})["uncertainty"].is_null());
  const json j = record("predict", {"--set", "L1.bandwidth=1.1x"});
  EXPECT_EQ(j["uncertainty"]["deciders"], (json{{{"name", "compute"}, {"share", 1.0}}}));
}

// By its first measurement L1 is 3.9 % slower, by the third 3.3 % quicker: so is the value at which
// it is as quick as computing.
TEST_F(Measurements, Whatif_has_a_band_and_an_interval) {
  const std::vector<std::string> vary{"--vary", "L1.bandwidth=0.95x..1.2x:3"};
  const json j = record("whatif", vary);
  ASSERT_EQ(j["points"].size(), 3u);
  const json& slow = j["points"][0];
  EXPECT_EQ(slow["bottleneck_share"], 1);
  EXPECT_NEAR(slow["predicted_seconds_5"].get<double>(),
              slow["predicted_seconds"].get<double>() * 19.36 / 20, 1e-12);
  EXPECT_NEAR(slow["predicted_seconds_95"].get<double>(),
              slow["predicted_seconds"].get<double>() * 19.36 / 18.6, 1e-12);
  ASSERT_EQ(j["crossovers"].size(), 1u);
  const json& x = j["crossovers"][0];
  EXPECT_EQ(x["from"], "L1-register");
  EXPECT_NEAR(x["value_5"].get<double>() / x["value"].get<double>(), 19.36 / 20, 2e-3);
  EXPECT_NEAR(x["value_95"].get<double>() / x["value"].get<double>(), 19.36 / 18.6, 2e-3);

  const std::string table = with("whatif", vary).out;
  EXPECT_TRUE(contains(
      table, "how sure: L1-register in 67 of 100 draws of the measured rates; compute in"));
  EXPECT_TRUE(contains(table,
                       "in 90 of 100 draws            rate  bottleneck      of 100 draws    "
                       "schedule\n"));
  EXPECT_TRUE(contains(table, "-2.7 % to +4.7 % in 90 of 100 draws\n")) << table;
  std::vector<std::string> csv = vary;
  csv.insert(csv.end(), {"--format", "csv"});
  const std::vector<std::string> rows = lines(with("whatif", csv).out);
  EXPECT_TRUE(rows[0].ends_with(
      ",schedule,bottleneck_share,predicted_seconds_5,predicted_seconds_95,value_5,value_95,"
      "gaining_share,area_mm2,watts,joules"));
  const auto commas = std::ranges::count(rows[0], ',');
  for (const std::string& row : rows) {
    if (contains(row, "\"")) continue;  // which may hold commas
    EXPECT_EQ(std::ranges::count(row, ','), commas) << row;
  }
}

// A little more of L1's bandwidth gains in the two draws in which L1 decides; a higher frequency in
// all of them, so nothing is said of draws.
TEST_F(Measurements, What_would_help_says_in_how_many_draws_it_does) {
  const json j = record("whatif", {});
  int found = 0;
  for (const json& e : j["elasticities"]) {
    if (e["knob"] == "L1.bandwidth") {
      EXPECT_NEAR(e["up"]["gaining_share"].get<double>(), 2 / 3.0, 1e-12);
    } else if (e["knob"] == "core.frequency") {
      EXPECT_NEAR(e["up"]["gaining_share"].get<double>(), 1, 1e-12);
    } else {
      continue;
    }
    ++found;
  }
  EXPECT_EQ(found, 2);
  EXPECT_TRUE(contains(j["text"], "+1.0 % core frequency brings +1.0 % GFLOPS.")) << j["text"];
}

}  // namespace
}  // namespace tcsim::cli
