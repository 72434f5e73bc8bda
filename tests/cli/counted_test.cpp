// What was counted, as a user sees it: real counts of what every machine counts, and made-up ones
// of cache lines.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/bounds_marks.hpp"
#include "cli/counted.hpp"
#include "cli/result.hpp"
#include "core/machine/toml.hpp"
#include "core/workload/parse.hpp"
#include "tests/cli/run.hpp"
#include "tests/faults.hpp"
#ifdef TCSIM_HAVE_PAPI
#include "tests/microbench/papi_here.hpp"
#endif

namespace tcsim::cli {
namespace {

using nlohmann::json;

std::vector<std::string> counted_run(std::vector<std::string> more) {
  more.insert(more.end(), {"--repetitions", "2"});
  return with_matmul("run", std::move(more));
}

TEST(Counters, Of_a_run_are_reported_with_the_source_and_the_reason) {
  const Ran r = tcsim(counted_run({"--counters", "--format", "json"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const json counters = json::parse(r.out)["counters"];
  EXPECT_TRUE(counters["source"].is_string());
  EXPECT_EQ(counters["why"].size(), 2u) << "one reason each for PAPI and likwid";
  EXPECT_EQ(counters["cache_events"].get<bool>(), !counters.contains("limits"));
  const Ran table = tcsim(counted_run({"--counters", "auto"}));
  EXPECT_TRUE(contains(table.out, "  counters      " + counters["source"].get<std::string>()));
  EXPECT_EQ(contains(table.out, "no cache events exist here"),
            !counters["cache_events"].get<bool>());
}

TEST(Counters, Are_silent_unless_asked_for) {
  const Ran r = tcsim(counted_run({"--format", "json"}));
  EXPECT_FALSE(json::parse(r.out).contains("counters"));
}

TEST(Counters, None_explains_itself) {
  const Ran r = tcsim(counted_run({"--counters", "none", "--format", "json"}));
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const json counters = json::parse(r.out)["counters"];
  EXPECT_EQ(counters["source"], "none");
  EXPECT_EQ(counters["limits"], "counting is switched off");
}

TEST(Counters, The_option_leaves_a_following_workload_alone) {
  const Ran r = tcsim({"run", "--counters", "ij-ik-kj", "--size", "i=8,j=8,k=8", "--machine",
                       "i7-6700k", "--repetitions", "1", "--format", "json"});
  ASSERT_EQ(r.code, Exit::done) << r.err;
  EXPECT_TRUE(json::parse(r.out).contains("counters"));
}

#ifdef TCSIM_HAVE_PAPI

TEST(Counters, Papi_counts_the_kernels_events_of_a_real_run) {
  if (!test::papi_counts_here()) GTEST_SKIP() << "PAPI has no counters on this machine";
  // C alone has 800 pages.
  const Ran r = tcsim({"run", "ij-ik-kj", "--size", "i=640,j=640,k=64", "--machine", "i7-6700k",
                       "--repetitions", "2", "--counters", "papi", "--format", "json"});
  ASSERT_EQ(r.code, Exit::done) << r.err;
  const json counters = json::parse(r.out).at("counters");
  EXPECT_EQ(counters.at("source"), "papi");
  ASSERT_GE(counters.at("events").size(), 4u);
  EXPECT_EQ(counters["events"][0]["name"], "page faults");
  // The arena was touched before, so the timed executions fault hardly ever.
  EXPECT_LE(counters["events"][0]["median"].get<double>(), 200 * test::faults_a_page);
  EXPECT_EQ(counters["events"][3]["name"], "task clock");
  EXPECT_GT(counters["events"][3]["median"].get<double>(), 0);
}

#else

TEST(Counters, A_build_without_papi_says_how_to_get_it) {
  const Ran r = tcsim(counted_run({"--counters", "papi"}));
  EXPECT_EQ(r.code, Exit::unsupported);
  EXPECT_TRUE(contains(r.err, "libpapi-dev")) << r.err;
}

#endif

// A prediction and counts that are easy to tell apart: over L1-L2, 10 lines of A in while packing,
// 20 of C in and 5 out while computing.
Result made_up_counts() {
  Result r("run",
           parse_contraction("ij-ik-kj", parse_sizes("i=8,j=8,k=8"), Layout::row_major,
                             ElementType::f64),
           find_machine("i7-6700k"));
  r.schedule = parse_schedule("groups m=j n=i k=k for m by 8 { kernel 8x6 }", r.workload, "test");
  r.prediction = Prediction{};
  r.prediction->traffic.links.resize(r.machine.levels.size());
  r.prediction->timing.links.resize(r.machine.levels.size());
  LinkTraffic& link = r.prediction->traffic.links[1];
  link.at(Phase::packing, ArrayId::A).in = Bytes(640);
  link.at(Phase::compute, ArrayId::C) = {Bytes(1280), Bytes(320)};
  r.counted = Counted{"papi",
                      "papi: counts 3 figures of traffic",
                      "papi-intel",
                      "",
                      {{"L1-L2", Bytes(1920), Bytes(384)}, {"L2-L3", Bytes(64), {}}},
                      {{"page faults", "", 3}, {"task clock", "ns", 2.5e6}}};
  return r;
}

std::string printed_result(const Result& r, Format format) {
  std::ostringstream out;
  print({r}, format, false, out);
  return out.str();
}

TEST(Counters, Table_has_lines_in_and_out_of_each_link_beside_the_prediction) {
  const std::string table = printed_result(made_up_counts(), Format::table);
  // 1920 / 64, (640 + 1280) / 64; 384 / 64, 320 / 64.
  EXPECT_TRUE(contains(table,
                       "  counted             lines in     predicted     lines out     predicted\n"
                       "  L1-L2                     30            30             6             5\n"
                       "  L2-L3                      1             0             -             0\n"
                       "  L3-memory                  -             0             -             0\n"
                       "  counters      papi (papi-intel)\n"))
      << table;
  EXPECT_TRUE(contains(table, "task clock                2.5 ms")) << table;
  EXPECT_FALSE(contains(table, "no cache events"));
}

TEST(Counters, Json_has_measured_bytes_where_the_accounting_can_be_met) {
  const json levels = json::parse(printed_result(made_up_counts(), Format::json))["levels"];
  EXPECT_EQ(levels[1]["measured_bytes"], 1920 + 384);
  EXPECT_EQ(levels[1]["measured_in_bytes"], 1920);
  EXPECT_EQ(levels[1]["measured_out_bytes"], 384);
  EXPECT_EQ(levels[1]["predicted_in_bytes"], 1920);
  EXPECT_EQ(levels[1]["predicted_out_bytes"], 320);
  EXPECT_FALSE(levels[0].contains("measured_in_bytes"));
  EXPECT_FALSE(levels[2].contains("measured_bytes")) << "what left is not known";
  EXPECT_EQ(levels[2]["measured_in_bytes"], 64);
}

TEST(Counters, Accountings_that_counters_cannot_follow_have_no_measured_bytes) {
  Result r = made_up_counts();
  r.machine.accounting.write_backs = false;
  EXPECT_EQ(measured_bytes(r, 1), Bytes(1920));
  EXPECT_EQ(measured_bytes(r, 2), Bytes(64)) << "what left does not matter now";
  r.machine.accounting.packing = false;
  EXPECT_EQ(measured_bytes(r, 1), std::nullopt);
}

TEST(Counters, Csv_has_them_in_columns_of_their_own) {
  const auto rows = lines(printed_result(made_up_counts(), Format::csv));
  EXPECT_TRUE(contains(rows[0], "measured_bytes,measured_in_bytes,measured_out_bytes,"));
  EXPECT_TRUE(contains(rows[2], ",2304,1920,384,")) << rows[2];
  EXPECT_TRUE(contains(rows[3], ",,64,,")) << rows[3];
}

TEST(Marks, Are_what_was_counted_or_why_it_was_not) {
  Result r = made_up_counts();
  for (std::size_t l = 0; l < r.machine.levels.size(); ++l) {
    r.bounds.emplace_back(static_cast<std::int64_t>(800 * (l + 1)));
  }
  const std::vector<BoundMark> marks = bound_marks(r);
  ASSERT_EQ(marks.size(), 4u);
  // In elements of 8 bytes. 16 registers of 4 and a vector more; and the 32 KiB of L1.
  EXPECT_EQ(marks[0].capacity, 68);
  EXPECT_EQ(marks[1].capacity, 68 + 4096);
  EXPECT_EQ(marks[1].lower, 200);
  EXPECT_EQ(marks[1].predicted, (640 + 1280 + 320) / 8);
  EXPECT_EQ(marks[1].simulated, std::nullopt);
  EXPECT_EQ(marks[1].measured, (1920 + 384) / 8);
  EXPECT_EQ(marks[1].not_measured, "");
  EXPECT_EQ(marks[0].not_measured, "processors count loads to the registers, not their bytes");
  EXPECT_EQ(marks[2].measured, std::nullopt);
  EXPECT_EQ(marks[2].not_measured, "papi counts what comes in alone, 8 elements");
  EXPECT_EQ(marks[3].not_measured, "papi has no event for it on this processor");
  std::ostringstream table;
  print_marks(r, table);
  EXPECT_TRUE(contains(table.str(), "L1-L2        200          280        -          288"))
      << table.str();
  EXPECT_TRUE(contains(table.str(), "not measured: L3-memory: papi has no event")) << table.str();
  r.machine.accounting = Accounting::paper();
  EXPECT_EQ(bound_marks(r)[1].not_measured,
            "counters count packing too, which this accounting leaves out");
  r.counted->limits = "none";
  r.counted->why = "papi: none\nlikwid: none\n";
  EXPECT_EQ(bound_marks(r)[1].not_measured,
            "this machine has no cache events: papi: none; likwid: none");
  r.counted->why = "asked for by name";
  EXPECT_EQ(bound_marks(r)[1].not_measured, "this machine has no cache events: none");
  r.counted.reset();
  EXPECT_EQ(bound_marks(r)[1].not_measured, "nothing was counted");
}

TEST(Memory, A_run_that_cannot_fit_is_refused_with_its_sizes_before_any_work) {
  for (const char* command : {"run", "report"}) {
    const Ran r = tcsim({command, "ij-ik-kj", "--size", "i=1000000,j=1000000,k=1000000"});
    EXPECT_EQ(r.code, Exit::unsupported);
    EXPECT_TRUE(contains(r.err,
                         "i=1000000,j=1000000,k=1000000: its tensors need 24 TB (A 8 TB, B 8 TB, C "
                         "8 TB), this machine has "))
        << r.err;
    EXPECT_TRUE(contains(r.err, "use smaller sizes, or f32")) << r.err;
  }
}

}  // namespace
}  // namespace tcsim::cli
