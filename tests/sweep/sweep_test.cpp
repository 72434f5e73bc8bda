// Whole sweeps in this process: the same bytes whatever the threads and however often stopped, and
// the numbers that the rest of tcsim gives.
#include "sweep/sweep.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "core/error.hpp"
#include "core/optimize/optimize.hpp"
#include "sweep/database.hpp"
#include "tests/core/study/study_file.hpp"
#include "tests/draws.hpp"
#include "tests/sweep/whole_sweep.hpp"

namespace tcsim {
namespace {

TEST(Sweep, Gives_the_same_bytes_on_any_number_of_threads_and_after_any_stops) {
  const Study study = small_study();
  const Folder one("one"), several("several");
  const SweepOutcome whole = sweep(study, into(one, 1));
  ASSERT_TRUE(whole.complete);
  // Of 40 capacities of L3 all, those from 2 MiB and those from 8 MiB; the machine as it is.
  EXPECT_EQ(whole.totals.points, 2 * (40 + 33 + 20 + 1));
  const auto expected = contents(one);
  EXPECT_EQ(expected.size(), 6u);
  EXPECT_GT(expected.at("report.html").size(), 10000u);

  SweepOptions options = into(several, 3);
  int stops = 0;
  SweepOutcome outcome;
  do {
    std::stop_source stop;
    options.stop = stop.get_token();
    std::int64_t first = -1;
    options.progress = [&](const SweepProgress& p) {
      if (first < 0) first = p.points;
      if (stops < 3) stop.request_stop();
    };
    outcome = sweep(study, options);
    options.resume = true;
    ++stops;
  } while (!outcome.complete && stops < 10);
  ASSERT_TRUE(outcome.complete);
  EXPECT_EQ(contents(several), expected);
}

// As a kill would, the process ends in the middle: what it had computed is in the store.
TEST(Sweep, Keeps_its_points_while_it_runs) {
  const Study study = small_study();
  const Folder folder("ended");
  SweepOptions options = into(folder, 1);
  options.keep_every = 0;
  options.progress = [](const SweepProgress& p) {
    if (p.points > 0) _exit(7);
  };
  EXPECT_EXIT(sweep(study, options), testing::ExitedWithCode(7), "");
  options.progress = {};
  options.resume = true;
  const SweepOutcome outcome = sweep(study, options);
  EXPECT_TRUE(outcome.complete);
  EXPECT_GT(outcome.resumed, 0);
}

// A point that takes long must not hold up what asks how long all of them may take.
TEST(Sweep, An_estimate_does_not_wait_for_a_point_that_takes_long) {
  const Study study = study_of(
      "schema = 1\nname = \"long\"\nmachines = [\"i7-6700k\"]\ncompute = \"simulate\"\n"
      "[[workload]]\nlabel = \"abcd-aebf-dfce\"\nsizes = \"a=72,b=72,c=72,d=72,e=72,f=72\"\n"
      "[[knob]]\nname = \"L3.capacity\"\nrange = \"1MiB..64MiB\"\npoints = 100\n");
  const SweepEstimate estimate = estimated_seconds(study, {}, 0.02);
  EXPECT_TRUE(estimate.at_least);
  EXPECT_GT(estimate.seconds, 0);
  EXPECT_FALSE(estimated_seconds(small_study(), {}, 100).at_least);

  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(estimated_seconds(study, stop.get_token(), 100), Interrupted);
}

TEST(Sweep, Finds_what_optimize_finds_or_proves_that_it_is_near) {
  const Study study = small_study();
  const Folder folder("near");
  sweep(study, into(folder, 2));
  Database db(folder.path() / "results.sqlite", Database::Mode::read);
  Statement points(db,
                   "SELECT design, workload, seconds, bound, bottleneck FROM points "
                   "WHERE design % " + std::to_string(9 * test::one_of) + " = 0");
  Designs designs(study);
  int compared = 0;
  while (points.step()) {
    LeftOut why;
    const auto d = designs.at(points.integer(0), why);
    ASSERT_TRUE(d);
    for (const StudyWorkload& w : study.workloads) {
      if (w.name() != points.text(1)) continue;
      const Optimized cold = optimize(w.contraction(), d->with);
      const double seconds = points.real(2), best = cold.prediction.timing.total.value();
      EXPECT_LE(seconds, best * 1.02) << points.text(1) << " design " << d->number;
      EXPECT_GE(seconds, points.real(3) * (1 - 1e-9));
      EXPECT_NEAR(points.real(3), cold.certificate.relaxed_bound, 1e-12);
      ++compared;
    }
  }
  EXPECT_GE(compared, test::one_of == 1 ? 16 : 1);
}

TEST(Sweep, Sums_by_weight_and_marks_the_front) {
  const Folder folder("sums");
  sweep(small_study(), into(folder, 2));
  Database db(folder.path() / "results.sqlite", Database::Mode::read);
  Statement sums(db,
                 "SELECT total_seconds, sum(weight * seconds), total_joules, sum(weight * joules), "
                 "objective FROM designs JOIN points USING(design) GROUP BY design");
  int designs = 0;
  while (sums.step()) {
    EXPECT_NEAR(sums.real(0), sums.real(1), 1e-12);
    EXPECT_NEAR(sums.real(2), sums.real(3), 1e-12);
    EXPECT_EQ(sums.real(0), sums.real(4));
    ++designs;
  }
  EXPECT_EQ(designs, 94);
  // No other design is as good as one on the front in everything; those off it have one that is.
  Statement wrong(db,
                  "SELECT count(*) FROM designs a WHERE base = 0 AND pareto <> NOT EXISTS("
                  "SELECT 1 FROM designs b WHERE b.base = 0 AND b.design <> a.design AND "
                  "b.total_seconds <= a.total_seconds AND b.area_mm2 <= a.area_mm2 AND "
                  "b.total_joules <= a.total_joules AND (b.design < a.design OR "
                  "b.total_seconds < a.total_seconds OR b.area_mm2 < a.area_mm2 OR "
                  "b.total_joules < a.total_joules))");
  wrong.step();
  EXPECT_EQ(wrong.integer(0), 0);
}

TEST(Sweep, Predict_keeps_the_machines_own_schedule_and_simulate_simulates) {
  const std::string knobs =
      "schema = 1\nname = \"t\"\nmachines = [\"i7-6700k\"]\n[[workload]]\nname = \"m\"\n"
      "label = \"ij-ik-kj\"\nsizes = \"i=64,j=64,k=64\"\n"
      "[[knob]]\nname = \"L1.capacity\"\nvalues = [\"8KiB\", \"32KiB\", \"64KiB\"]\n";
  const Folder kept("kept"), simulated("simulated");
  sweep(study_of("compute = \"predict\"\n" + knobs), into(kept, 1));
  const auto count = [](const Folder& folder, const std::string& sql) {
    Database db(folder.path() / "results.sqlite", Database::Mode::read);
    Statement s(db, sql);
    s.step();
    return s.integer(0);
  };
  EXPECT_EQ(count(kept, "SELECT count(*) FROM schedules"), 1);
  EXPECT_EQ(count(kept, "SELECT count(*) FROM points"), 4);
  sweep(study_of("compute = \"simulate\"\n" + knobs), into(simulated, 2));
  EXPECT_EQ(count(simulated,
                  "SELECT count(*) FROM points WHERE \"L1-L2_simulated_bytes\" > 0 AND "
                  "seconds = simulated_seconds"),
            4);
  // 3 x 64 x 64 elements and the results again; through an L1 of 8 KiB more.
  const std::string least = "SELECT count(*) FROM points WHERE \"L3-memory_bound_bytes\" = 131072";
  EXPECT_EQ(count(simulated, least + " AND \"L1-L2_bound_bytes\" <= \"L1-L2_simulated_bytes\""), 4);
  EXPECT_EQ(count(simulated, least + " AND \"L1-L2_bound_bytes\" > 131072"), 1);
}

// L1 was measured three times: its link takes 0.8, 1 and 1.25 times what it takes by the figure. It
// decides in a draw unless another link, or computing, takes longer. The knob scales the figure.
TEST(Sweep, Says_how_sure_bottlenecks_are_where_rates_were_measured) {
  Study study = study_of(
      "compute = \"predict\"\nname = \"t\"\nschema = 1\nmachines = [\"i7-6700k\"]\n"
      "[[workload]]\nname = \"m\"\nlabel = \"ij-ik-kj\"\nsizes = \"i=96,j=72,k=80\"\n"
      "[[knob]]\nname = \"L1.bandwidth\"\nvalues = [\"0.95x\", \"1.1x\", \"2x\"]\n");
  const Folder published("published"), measured("measured");
  sweep(study, into(published, 1));
  EXPECT_EQ(file_text(published.path() / "results.csv").find("bottleneck_share"),
            std::string::npos);
  Level& l1 = study.machines[0].machine.levels[0];
  BandwidthSeries series;
  series.instruction_set = "AVX2";
  series.working_set = Bytes(16384);
  const double rate = l1.bandwidth.value.at(study.machines[0].machine.core.frequency.value).value();
  for (double f : {0.8, 1.0, 1.25}) series.repetitions.emplace_back(rate / f);
  l1.series = {series};
  sweep(study, into(measured, 1));
  Database db(measured.path() / "results.sqlite", Database::Mode::read);
  Statement s(db,
              "SELECT \"L1-register_seconds\", max(\"L1-L2_seconds\", \"L2-L3_seconds\", "
              "\"L3-memory_seconds\", compute_seconds), bottleneck, bottleneck_share, "
              "model_seconds_5, model_seconds_95 FROM points");
  int points = 0, unsure = 0;
  for (; s.step(); ++points) {
    const double l1_seconds = s.cell(0).real, other = s.cell(1).real;
    double decides = 0;
    for (double f : {0.8, 1.0, 1.25}) decides += f * l1_seconds >= other ? 1 / 3.0 : 0;
    const bool is_l1 = s.text(2) == "L1-register";
    EXPECT_EQ(is_l1, l1_seconds >= other);
    EXPECT_NEAR(s.cell(3).real, is_l1 ? decides : 1 - decides, 1e-12);
    EXPECT_NEAR(s.cell(4).real, std::max(0.8 * l1_seconds, other), 1e-15);
    EXPECT_NEAR(s.cell(5).real, std::max(1.25 * l1_seconds, other), 1e-15);
    unsure += decides > 0 && decides < 0.99 ? 1 : 0;
  }
  EXPECT_EQ(points, 4);
  EXPECT_EQ(unsure, 3);
}

TEST(Sweep, A_folder_is_not_written_over) {
  const Study study = study_of(
      "schema = 1\nname = \"t\"\nworkloads = [\"tccg:22\"]\nmachines = [\"i7-6700k\"]\n"
      "[[knob]]\nname = \"memory.bandwidth\"\nrange = \"0.5x..1x\"\npoints = 4\n");
  const auto refused = [&](const SweepOptions& o) -> std::string {
    try {
      sweep(study, o);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const Folder folder("refused");
  ASSERT_TRUE(sweep(study, into(folder, 1)).complete);
  EXPECT_NE(refused(into(folder, 1)).find("there are results already"), std::string::npos);
  SweepOptions resume = into(folder, 1);
  resume.resume = true;
  const auto before = contents(folder);
  EXPECT_TRUE(sweep(study, resume).already);
  EXPECT_EQ(contents(folder), before);

  const Folder begun("begun");
  SweepOptions stopped = into(begun, 1);
  std::stop_source stop;
  stop.request_stop();
  stopped.stop = stop.get_token();
  EXPECT_FALSE(sweep(study, stopped).complete);
  EXPECT_NE(refused(into(begun, 1)).find("a study was begun there; add --resume"),
            std::string::npos);
  SweepOptions newer = into(begun, 1);
  newer.resume = true;
  newer.version = "another";
  EXPECT_NE(refused(newer).find("tcsim's version changed"), std::string::npos);

  const Folder other("other_files");
  std::filesystem::create_directories(other.path());
  std::ofstream(other.path() / "thesis.tex") << "x";
  EXPECT_NE(refused(into(other, 1)).find("there are other files"), std::string::npos);
}

// The shipped studies with few values.
TEST(Sweep, Shipped_studies_run_in_reduced_size) {
  for (const char* name : {"l3-growth", "bandwidth-wall", "budget", "explicit-levels"}) {
    const std::filesystem::path file =
        std::filesystem::path(TCSIM_SOURCE_DIR) / "data/studies" / (std::string(name) + ".toml");
    Study study = parse_study(file_text(file), file.string(), shipped_sources(file));
    for (StudyMachine& m : study.machines) {
      m.designs = 1;
      for (Axis& a : m.axes) {
        if (a.values.size() > 3) {
          a.values = {a.values.front(), a.values[a.values.size() / 2], a.values.back()};
        }
        m.designs *= std::ssize(a.values);
      }
    }
    constexpr std::size_t most = test::one_of == 1 ? 4 : 1;
    if (study.workloads.size() > most) {
      study.workloads.erase(study.workloads.begin() + most, study.workloads.end());
    }
    const Folder folder(name);
    const SweepOutcome o = sweep(study, into(folder, 2));
    EXPECT_TRUE(o.complete) << name;
    EXPECT_GT(o.totals.designs, 3) << name;
    EXPECT_FALSE(o.totals.verdict.empty());
  }
}

}  // namespace
}  // namespace tcsim
