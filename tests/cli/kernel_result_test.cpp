// What is printed of a catalog of kernels that is made up, and the commands around it.
#include "cli/kernel_result.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run.hpp"
#include "tests/core/made_up_catalog.hpp"
#include "tests/scratch.hpp"

namespace tcsim::cli {
namespace {

// A made-up catalog in a file, for --machine.
class Catalog_file : public testing::Test {
 protected:
  Catalog_file() { std::ofstream(file_) << to_toml(test::made_up_catalog()); }
  ~Catalog_file() override { std::filesystem::remove(file_); }

  Ran list(std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"list", "kernels", "--machine", file_.string()};
    args.insert(args.end(), more.begin(), more.end());
    return tcsim(args);
  }
  std::string text() const {
    std::ifstream in(file_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::filesystem::path file_ = test::scratch("made_up_kernels.toml");
};

TEST_F(Catalog_file, The_table_is_columns_by_vectors_for_each_type_and_scheme) {
  const Ran r = list();
  EXPECT_EQ(r.code, Exit::done) << r.err;
  EXPECT_EQ(r.out,
            "A \"made up\" processor, first cache 48KiB, measured 2026-01-31\n"
            "medians; processor time\n"
            "% of the multiply-add peak at the longest k; *: a candidate, at least 85 % of the "
            "best of its type and scheme\n"
            "\n"
            "f64, avx512, packed, k = 8 to 16\n"
            "  vectors         1          2          3          4\n"
            "     rows         8         16         24         32\n"
            "        1      20.0\n"
            "        6                                       81.0\n"
            "        8                            81.6*\n"
            "       14                 96.0*\n"
            "\n"
            "f32, avx512, packed, k = 4\n"
            "  vectors         3\n"
            "     rows        48\n"
            "        8      30.0*\n"
            "\n"
            "f64, avx512, in-place, k = 8\n"
            "  vectors         2          3\n"
            "     rows        16         24\n"
            "        8      50.0       60.0*\n");
}

TEST_F(Catalog_file, One_type_and_scheme_may_be_asked_for) {
  const std::string packed = list({"--type", "f64", "--scheme", "packed"}).out;
  EXPECT_TRUE(contains(packed, "f64, avx512, packed"));
  EXPECT_FALSE(contains(packed, "f32,")) << packed;
  EXPECT_FALSE(contains(packed, "in-place")) << packed;
  // There is none of them: no table.
  EXPECT_EQ(lines(list({"--type", "f32", "--scheme", "in-place"}).out).size(), 3u);
}

TEST_F(Catalog_file, Json_and_csv_have_every_point) {
  const auto j = nlohmann::json::parse(list({"--format", "json"}).out);
  EXPECT_EQ(j["command"], "list kernels");
  const auto& c = j["catalog"];
  EXPECT_EQ(c["processor"], "A \"made up\" processor");
  EXPECT_EQ(c["first_cache_bytes"], 48 << 10);
  EXPECT_EQ(c["day"], "2026-01-31");
  EXPECT_EQ(c["repetitions"], 5);
  EXPECT_EQ(c["candidate_share"], 0.85);
  ASSERT_EQ(c["kernels"].size(), 7u);
  const auto& kernel = c["kernels"][1];
  EXPECT_EQ(kernel["mr"], 16);
  EXPECT_EQ(kernel["nr"], 14);
  EXPECT_EQ(kernel["vectors"], 2);
  EXPECT_EQ(kernel["type"], "f64");
  EXPECT_EQ(kernel["instruction_set"], "avx512");
  EXPECT_EQ(kernel["scheme"], "packed");
  EXPECT_EQ(kernel["candidate"], true);
  ASSERT_EQ(kernel["points"].size(), 3u);
  EXPECT_EQ(kernel["points"][1]["k"], 8);
  EXPECT_EQ(kernel["points"][1]["of_peak"], 1.0 / 3);
  EXPECT_DOUBLE_EQ(kernel["points"][1]["gflops"], 60.1 / 3);
  EXPECT_EQ(c["kernels"][0]["candidate"], false);

  const auto rows = lines(list({"--format", "csv"}).out);
  ASSERT_EQ(rows.size(), 1u + 2 + 3 + 2 + 2 + 1 + 2 + 2);
  EXPECT_EQ(rows[0],
            "schema,command,tcsim_version,processor,shape,type,instruction_set,k,gflops,of_peak,"
            "vectors,scheme,candidate,day");
  EXPECT_TRUE(rows.back().ends_with(",16x8,f64,avx512,8,30.05,0.5,2,in-place,false,2026-01-31"))
      << rows.back();
}

TEST_F(Catalog_file, One_that_is_not_there_or_wrong_is_refused_with_its_mend) {
  std::ofstream(file_) << "schema = 1\n";
  Ran r = list();
  EXPECT_EQ(r.code, Exit::input);
  EXPECT_TRUE(contains(r.err, "made_up_kernels.toml:1:1: a catalog of kernels has no "))
      << r.err;
  std::filesystem::remove(file_);
  r = list();
  EXPECT_EQ(r.code, Exit::input);
  EXPECT_TRUE(contains(r.err, "; run 'tcsim probe --kernels'")) << r.err;
}

TEST_F(Catalog_file, An_interrupted_probe_leaves_the_one_that_was_there) {
  std::stop_source stop;
  stop.request_stop();
  const Ran r = tcsim({"probe", "--kernels", "--out", file_.string()}, stop.get_token());
  EXPECT_EQ(r.code, Exit::interrupted);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(text(), to_toml(test::made_up_catalog()));
}

TEST(Probe_kernels, A_file_that_cannot_be_written_is_refused_before_the_work) {
  const Ran r = tcsim({"probe", "--kernels", "--out", "/nonexistent/x.toml"});
  EXPECT_EQ(r.code, Exit::usage);
  EXPECT_TRUE(contains(r.err, "cannot be written")) << r.err;
}

}  // namespace
}  // namespace tcsim::cli
