// Are a core's losses found again in run times that were made up from them?
#include "kernels/overhead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/exposed.hpp"
#include "kernels/execute.hpp"

namespace tcsim {
namespace {

// 2 GHz, AVX2, three caches; L1's link moves 64 bytes a cycle.
Machine machine() {
  Machine m = find_machine("e5-2680v4");
  m.core.frequency.value = Hertz(2e9);
  return m;
}

const OverheadOptions quick{true, {}, {}};

Bytes tensors(const Contraction& c) {
  Bytes all;
  for (TensorId t : {TensorId::A, TensorId::B, TensorId::C}) {
    all += size_of(c.type()) * c.size(t).value();
  }
  return all;
}

// What a run takes on a core that loses `m.core.overhead`: multiply-adds at 0.8 of the peak, 300
// cycles for each execution. What fits into the first cache has it for nothing but its own link.
Seconds made_up(const Plan& plan, Machine m) {
  if (tensors(plan.contraction()) < m.levels.front().capacity.value) {
    for (std::size_t l = 1; l < m.levels.size(); ++l) {
      m.levels[l].bandwidth.value.value = 1e18;
      m.levels[l].latency = Figure<Cycles>{Cycles(0), Origin::hypothetical, ""};
    }
  }
  // No loss changes a prediction.
  static std::map<std::string, Prediction> known;
  const Contraction& c = plan.contraction();
  const std::string text = c.name() + c.sizes() + to_line(plan.schedule(), c);
  const auto [place, is_new] = known.try_emplace(text);
  if (is_new) place->second = predict(c, plan.schedule(), m);
  const Prediction& p = place->second;
  const Exposed lost = exposed(c, plan.schedule(), p, m, CallsAre::walked);
  const Seconds core = 1.25 * p.timing.compute + lost.traffic + lost.core;
  return Seconds(300 / m.core.frequency.value.value()) +
         std::max(slowest_link(p.timing) + lost.pieces, core);
}

bool mentions(const std::vector<std::string>& remarks, const std::string& text) {
  return std::ranges::any_of(remarks, [&](const auto& r) { return r.find(text) != r.npos; });
}

TEST(OverheadMeasurement, Losses_are_found_again_in_the_run_times_that_they_make) {
  Machine truth = machine();
  Overhead& lost = truth.core.overhead;
  lost.task.value = Cycles(70);
  lost.call.value = Cycles(12.5);
  lost.partial.value = Cycles(33);
  lost.broken.value = Cycles(210);
  lost.scatter.value = Cycles(1.5);
  lost.pack.value = Cycles(2600);
  lost.load.value = Cycles(0.82);
  lost.results.value = 0.3;
  Machine found = machine();
  int asked = 0;
  measure_overhead(found, {}, [&](const Plan& plan) {
    ++asked;
    return made_up(plan, truth);
  });
  EXPECT_GT(asked, 50);
  EXPECT_EQ(found.remarks, machine().remarks);
  for (LostFigure figure : std::initializer_list<LostFigure>{
           &Overhead::task, &Overhead::call, &Overhead::partial, &Overhead::broken,
           &Overhead::scatter, &Overhead::pack, &Overhead::results}) {
    const double wanted = value_of(lost, figure);
    EXPECT_NEAR(value_of(found.core.overhead, figure), wanted, 0.06 + 1e-3 * wanted);
    std::visit(
        [&](auto member) {
          const auto& measured = found.core.overhead.*member;
          EXPECT_EQ(measured.origin, Origin::measured);
          EXPECT_TRUE(measured.source.starts_with("least squares")) << measured.source;
        },
        figure);
  }
  EXPECT_NEAR(found.core.overhead.load.value.value(), 0.82, 0.011);
  EXPECT_EQ(found.core.overhead.load.origin, Origin::measured);
  // What nothing measures stays as it was, and the machine is one.
  EXPECT_EQ(found.core.overhead.piece, Overhead().piece);
  EXPECT_EQ(found.core.overhead.far_line, Overhead().far_line);
  EXPECT_EQ(found.core.overhead.apart, Overhead().apart);
  check(found, "found");
}

TEST(OverheadMeasurement, Noise_is_not_taken_for_a_figure) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> factor(0.4, 1.6);
  Machine found = machine();
  measure_overhead(found, quick,
                   [&](const Plan& plan) { return factor(random) * made_up(plan, machine()); });
  EXPECT_EQ(found.core.overhead, Overhead());
  for (const char* name : {"task", "call", "load", "partial", "broken", "scatter", "pack",
                           "results", "result_piece", "far_result_piece"}) {
    EXPECT_TRUE(mentions(found.remarks, std::string("overhead: ") + name + " was not measured"))
        << name;
  }
}

// Where nothing else is in memory's way.
TEST(OverheadMeasurement, Pieces_of_results_are_found_again) {
  Machine truth = machine();
  Overhead& lost = truth.core.overhead;
  lost.task.value = lost.call.value = Cycles(1);
  lost.results.value = 0;
  lost.result_piece.value = 300;
  lost.far_result_piece.value = 700;
  Machine found = machine();
  measure_overhead(found, quick, [&](const Plan& plan) { return made_up(plan, truth); });
  EXPECT_EQ(found.core.overhead.result_piece.value, 300);
  EXPECT_EQ(found.core.overhead.result_piece.origin, Origin::measured);
  EXPECT_EQ(found.core.overhead.far_result_piece.value, 700);
  EXPECT_EQ(found.core.overhead.far_result_piece.origin, Origin::measured);
}

// Small is as good as nothing there, but for cycles.
TEST(OverheadMeasurement, Results_that_hide_altogether_are_a_figure) {
  Machine truth = machine();
  truth.core.overhead.results.value = -0.02;
  Machine found = machine();
  measure_overhead(found, quick, [&](const Plan& plan) { return made_up(plan, truth); });
  EXPECT_EQ(found.core.overhead.results.value, 0);
  EXPECT_EQ(found.core.overhead.results.origin, Origin::measured);
}

// Multiply-adds take longer than loads, which take what they do at most.
TEST(OverheadMeasurement, Loads_that_hide_are_no_longer_than_what_hides_them) {
  Machine truth = machine();
  truth.core.overhead.load.value = Cycles(0.1);
  Machine found = machine();
  measure_overhead(found, quick, [&](const Plan& plan) { return made_up(plan, truth); });
  EXPECT_NEAR(found.core.overhead.load.value.value(), 12.0 / 2 / 13, 0.011);
  EXPECT_TRUE(found.core.overhead.load.source.starts_with("at most"));
  // One that is assumed to be shorter stays.
  found = machine();
  found.core.overhead.load.value = Cycles(0.2);
  measure_overhead(found, quick, [&](const Plan& plan) { return made_up(plan, truth); });
  EXPECT_EQ(found.core.overhead.load.value, Cycles(0.2));
  EXPECT_EQ(found.core.overhead.load.origin, Origin::assumed);
}

TEST(OverheadMeasurement, A_negative_figure_is_refused_and_the_others_are_kept) {
  Machine truth = machine();
  truth.core.overhead.scatter.value = Cycles(-0.2);
  truth.core.overhead.task.value = Cycles(64);
  Machine found = machine();
  measure_overhead(found, quick, [&](const Plan& plan) { return made_up(plan, truth); });
  EXPECT_EQ(found.core.overhead.scatter, Overhead().scatter);
  EXPECT_TRUE(mentions(found.remarks, "scatter was not measured, since the fit gives -0.2 cycles"));
  EXPECT_NEAR(found.core.overhead.task.value.value(), 64, 0.1);
}

TEST(OverheadMeasurement, What_is_fitted_together_is_refused_together) {
  Machine truth = machine();
  truth.core.overhead.call.value = Cycles(-5);
  truth.core.overhead.scatter.value = Cycles(2);
  Machine found = machine();
  measure_overhead(found, quick, [&](const Plan& plan) { return made_up(plan, truth); });
  EXPECT_EQ(found.core.overhead.task, Overhead().task);
  EXPECT_EQ(found.core.overhead.call, Overhead().call);
  EXPECT_TRUE(mentions(found.remarks, "task was not measured, since of call the fit gives -5.0"));
  EXPECT_TRUE(mentions(found.remarks, "call was not measured, since the fit gives -5.0 cycles"));
  EXPECT_EQ(found.core.overhead.pack.origin, Origin::measured);
}

TEST(OverheadMeasurement, Too_little_memory_leaves_the_figures_of_large_tensors) {
  Machine found = machine();
  measure_overhead(found, quick, [&](const Plan& plan) {
    if (tensors(plan.contraction()) > Bytes(1 << 20)) {
      throw UnsupportedError("", "there is no memory", "");
    }
    return made_up(plan, machine());
  });
  EXPECT_EQ(found.core.overhead.pack.origin, Origin::assumed);
  EXPECT_EQ(found.core.overhead.task.origin, Origin::measured);
  EXPECT_TRUE(mentions(found.remarks, "packs were not measured, since there is no memory"));
}

TEST(OverheadMeasurement, Stops_when_asked_and_says_how_far_it_is) {
  std::stop_source stop;
  double share = -1;
  OverheadOptions options;
  options.stop = stop.get_token();
  options.progress = [&](const std::string& what, double done) {
    EXPECT_FALSE(what.empty());
    EXPECT_GE(done, share);
    EXPECT_LE(done, 1);
    share = done;
    if (done > 0.2) stop.request_stop();
  };
  Machine found = machine();
  EXPECT_THROW(
      measure_overhead(found, options, [&](const Plan& plan) { return made_up(plan, machine()); }),
      Interrupted);
  EXPECT_GT(share, 0.2);
}

// What is timed computes what it should.
TEST(OverheadMeasurement, Every_problem_is_a_schedule_that_runs) {
  Machine found = machine();
  measure_overhead(found, quick, [&](const Plan& plan) {
    if (tensors(plan.contraction()) < Bytes(1 << 20)) {
      Arena arena(plan);
      fill_inputs(arena, plan, 3);
      execute(plan, arena);
      EXPECT_TRUE(check_result(arena, plan, Elements(1000), 3).ok());
    }
    return made_up(plan, machine());
  });
}

}  // namespace
}  // namespace tcsim
