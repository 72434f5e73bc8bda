// Studies of chains on explicit levels: the numbers of tcsim fuse, the same bytes whatever the
// threads and stops, and what is said about studies that cannot be.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/levels/vary.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "sweep/compare.hpp"
#include "sweep/database.hpp"
#include "sweep/result_folder.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"
#include "tests/sweep/whole_sweep.hpp"

namespace tcsim {
namespace {

using nlohmann::json;

// Two chains, of which local memory holds a part, by capacity and processes.
std::string chains_study(const std::string& compute) {
  return "schema = 1\nname = \"chains\"\nmachines = [\"gpu-cluster-node\"]\ncompute = \"" +
         compute + R"("
[[workload]]
statements = "C[i,k] += A[i,j] * B[j,k]"
sizes = "i=600,j=500,k=700"
[set]
"global.capacity" = "120MB"
"local.capacity" = "4MB"
[[workload]]
name = "pair"
statements = "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]"
sizes = "a=900,b=700,p=800,q=1000"
weight = 2
[[knob]]
name = "local.capacity"
values = ["1MB", "4MB", "200MB"]
[[knob]]
name = "global.processes"
values = [2, 8]
[[knob]]
name = "global.bandwidth"
values = ["0.5x", "4x"]
)";
}

TEST(Sweep_of_chains, Gives_the_same_bytes_on_any_number_of_threads_and_after_any_stops) {
  const Study study = study_of(chains_study("simulate"));
  const Folder one("chains-one"), several("chains-several");
  const SweepOutcome whole = sweep(study, into(one, 1));
  ASSERT_TRUE(whole.complete);
  // Local memory of 200 MB is larger than global memory: no machine is like that.
  EXPECT_EQ(whole.totals.points, 2 * (2 * 2 * 2 + 1));
  SweepOptions options = into(several, 3);
  SweepOutcome outcome;
  int stops = 0;
  do {
    std::stop_source stop;
    options.stop = stop.get_token();
    options.progress = [&](const SweepProgress&) {
      if (stops < 2) stop.request_stop();
    };
    outcome = sweep(study, options);
    options.resume = true;
  } while (!outcome.complete && ++stops < 10);
  ASSERT_TRUE(outcome.complete);
  EXPECT_EQ(contents(several), contents(one));
  EXPECT_TRUE(compare_results(one.path(), several.path(), 0).same());
  const std::string report = contents(one).at("report.html");
  EXPECT_NE(report.find("local-global"), std::string::npos);
  EXPECT_EQ(report.find("accounting"), std::string::npos);
  EXPECT_NE(contents(one).at("results.csv").find("local-global_simulated_bytes"),
            std::string::npos);
}

// Each design by itself: what the sweep has is no worse, above that bound, and counted alike.
TEST(Sweep_of_chains, Has_the_optimum_of_each_design) {
  const Study study = study_of(chains_study("simulate"));
  const Folder folder("chains-near");
  sweep(study, into(folder, 2));
  Database db(folder.path() / "results.sqlite", Database::Mode::read);
  Statement points(db,
                   "SELECT design, workload, seconds, bound, bottleneck, gflops, "
                   "\"local-global_bytes\", \"local-global_simulated_bytes\", "
                   "\"global-disk_seconds\", compute_seconds, predicted_seconds FROM points");
  Designs designs(study);
  int compared = 0;
  while (points.step()) {
    LeftOut why;
    const auto d = designs.at(points.integer(0), why);
    ASSERT_TRUE(d);
    const bool pair = points.text(1) == "pair";
    const levels::OperationTree& tree = study.workloads[pair ? 1 : 0].chain();
    const levels::Hierarchy h = levels::hierarchy(d->with, Bytes(8));
    const levels::LevelOptimum alone = levels::optimum(tree, h);
    SCOPED_TRACE(points.text(1) + " design " + std::to_string(d->number));
    const double seconds = points.real(2);
    EXPECT_LE(seconds, alone.plan.time().value() * 1.002);
    EXPECT_GE(seconds, alone.bound.value() * (1 - 1e-9));
    EXPECT_GE(seconds, points.real(3) * (1 - 1e-9));
    EXPECT_NEAR(points.real(5), tree.flops() / seconds / 1e9, 1e-6 * points.real(5));
    EXPECT_EQ(points.real(6), points.real(7));
    EXPECT_NEAR(points.real(10), seconds, 1e-9 * seconds);
    if (d->base) {
      EXPECT_EQ(points.text(4), levels::slowest_name(h, alone.plan));
    }
    ++compared;
  }
  EXPECT_EQ(compared, 18);
}

// With more bandwidth the kept schedule takes less, and no design has less than the optimum.
TEST(Sweep_of_chains, Keeps_the_schedule_of_the_machine_as_it_is) {
  const Study study = study_of(chains_study("predict"));
  EXPECT_GT(estimated_seconds(study, {}).seconds, 0);
  const Folder folder("chains-kept");
  const SweepOutcome outcome = sweep(study, into(folder, 2));
  // Of two processes there is none, and 1 MB does not hold it.
  EXPECT_EQ(outcome.totals.points, 2 * (2 + 1));
  Database db(folder.path() / "results.sqlite", Database::Mode::read);
  Statement schedules(db, "SELECT count(DISTINCT schedule), count(bound) FROM points");
  ASSERT_TRUE(schedules.step());
  EXPECT_EQ(schedules.integer(0), 2);
  EXPECT_EQ(schedules.integer(1), 2);  // of the machine as it is alone
  const json manifest = json::parse(file_text(folder.path() / "manifest.json"));
  std::map<std::string, int> left_out;
  for (const json& l : manifest["left_out"]) left_out[l["reason"]] = l["designs"];
  EXPECT_EQ(left_out, (std::map<std::string, int>{
                          {"no such machine", 4},
                          {"the schedule that is kept does not fit", 2},
                          {"the schedule that is kept is of another number of processes", 4}}));
}

TEST(Sweep_of_chains, Says_what_its_points_are) {
  const Folder folder("chains-open");
  sweep(study_of(chains_study("predict")), into(folder, 2));
  const ResultFolder results(folder.path());
  try {
    results.design({0, "pair"});
    ADD_FAILURE();
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(),
                 "pair: it is a chain on explicit levels; look at it with tcsim fuse, its knobs "
                 "given by --set");
  }
  const json manifest = json::parse(file_text(folder.path() / "manifest.json"));
  EXPECT_EQ(manifest["workloads"][1]["label"],
            "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]");
  EXPECT_EQ(manifest["workloads"][1]["sizes"], "a=900,q=1000,p=800,b=700");
}

std::string refusal(const std::string& text) {
  try {
    study_of(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Sweep_of_chains, Refuses_what_it_cannot_do) {
  const std::string head = "schema = 1\nname = \"s\"\n";
  const std::string levels = "machines = [\"gpu-cluster-node\"]\n";
  const std::string chain = "workloads = [\"multilevel:1\"]\n";
  EXPECT_EQ(refusal(head + chain + levels), "");
  EXPECT_EQ(refusal(head + chain + "machines = [\"i7-6700k\"]\n"),
            "study.toml:3:14: 'multilevel:1' is a chain; chains are for studies of machines with "
            "explicit levels, such as gpu-cluster-node");
  EXPECT_EQ(refusal(head + chain + "machines = [\"i7-6700k\", \"gpu-cluster-node\"]\n"),
            "study.toml:4:25: gpu-cluster-node has explicit levels and i7-6700k has caches; make "
            "two studies");
  EXPECT_NE(refusal(head + levels + "workloads = [\"tccg:1\"]\n"), "");
  EXPECT_NE(refusal(head + chain + levels + "compute = \"run\"\n").find("does not run chains"),
            std::string::npos);
  EXPECT_NE(refusal(head + chain + levels + "objective = \"energy\"\n")
                .find("study.toml:5:13: nothing says what a byte between explicit levels costs"),
            std::string::npos);
  EXPECT_NE(refusal(head + chain + levels + "accounting = \"paper\"\n").find("of caches"),
            std::string::npos);
  EXPECT_NE(refusal(head + levels + "[[workload]]\nstatements = \"T[a] += C[a,p] * A[p]\"\n"), "");
  EXPECT_NE(refusal(head + levels + "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=2\"\n")
                .find("unknown key 'label'"),
            std::string::npos);
  EXPECT_NE(refusal(head + chain + levels + "[[knob]]\nname = \"local.ways\"\nvalues = [1]\n"), "");
}

}  // namespace
}  // namespace tcsim
