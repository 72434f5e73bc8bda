#include "bench/regret.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/optimize.hpp"
#include "core/plan/plan.hpp"
#include "kernels/execute.hpp"

namespace tcsim::bench {

namespace {

constexpr Elements checked_per_schedule{500};

// Each schedule has an arena of its own, made anew for every run: a dozen of them at once would not
// fit the memory. Filling and checking are not timed.
class Race {
 public:
  Race(const Contraction& contraction, ColdYardstick& yardstick, const RegretOptions& options)
      : contraction_(contraction), yardstick_(yardstick), options_(options) {}

  Samples no_samples() const {
    return Samples(contraction_.flops(), compulsory_traffic(contraction_));
  }

  // Runs a schedule once. Returns whether its result is right.
  bool run(const Schedule& schedule, Samples& samples) {
    if (options_.stop.stop_requested()) throw Interrupted();
    const Plan plan(contraction_, schedule);
    Arena arena(plan);
    fill_inputs(arena, plan, options_.seed);
    const PreparedPlan execution(plan, arena);
    samples.add(yardstick_(contraction_.type(), [&] { execution(options_.stop); }));
    return check_result(arena, plan, checked_per_schedule, options_.seed).ok();
  }

 private:
  const Contraction& contraction_;
  ColdYardstick& yardstick_;
  const RegretOptions& options_;
};

// As a share of the peak around it, so that a slower minute does not decide.
double speed(const Raced& r) { return r.correct ? r.samples.of_peak() : 0; }

}  // namespace

double RegretCase::regret() const {
  if (!pick_again || !winner_again) return 0;
  return std::max(0.0, winner_again->of_peak() / pick_again->of_peak() - 1);
}

double RegretCase::predicted_loss() const {
  return raced[winner].predicted / raced.front().predicted - 1;
}

bool RegretCase::correct() const {
  return std::ranges::all_of(raced, [](const Raced& r) { return r.correct; });
}

RegretCase bench_regret(const Contraction& contraction, const Machine& machine,
                        ColdYardstick& yardstick, const RegretOptions& options) {
  Race race(contraction, yardstick, options);
  const Optimized pick = optimize(contraction, machine, for_running(), options.stop);
  RegretCase result{contraction, {}, 0, {}, {}};
  const auto enter = [&](std::string difference, Schedule schedule) {
    std::string kernel = kernel_used(Plan(contraction, schedule));
    const Seconds predicted = predict(contraction, schedule, machine).timing.total;
    result.raced.push_back({std::move(difference), std::move(schedule), std::move(kernel),
                            predicted, race.no_samples(), true});
  };
  enter("", pick.schedule);
  for (Neighbour& n : neighbourhood(contraction, machine, pick.tiling, options.neighbours)) {
    enter(std::move(n.difference), build(contraction, machine, n.tiling));
  }

  std::vector<Raced>& all = result.raced;
  const auto best = [&] {
    return static_cast<std::size_t>(std::ranges::max_element(all, {}, speed) - all.begin());
  };
  // As if all of them ran every time: it ends early, never late.
  const auto runs = all.size() * static_cast<std::size_t>(options.repetitions) +
                    2 * static_cast<std::size_t>(options.second_race);
  std::size_t done = 0;
  const auto show = [&] {
    if (options.progress) {
      options.progress(static_cast<double>(done++) / static_cast<double>(runs));
    }
  };
  for (int r = 0; r < options.repetitions; ++r) {
    const double fastest = r == 0 ? 0 : speed(all[best()]);
    for (Raced& one : all) {
      if (&one != &all.front() && r > 0 && speed(one) < fastest / (1 + options.margin)) continue;
      show();
      one.correct = race.run(one.schedule, one.samples) && one.correct;
    }
  }
  result.winner = best();
  if (result.winner == 0) return result;
  result.pick_again = result.winner_again = race.no_samples();
  for (int r = 0; r < options.second_race; ++r) {
    show();
    race.run(all.front().schedule, *result.pick_again);
    race.run(all[result.winner].schedule, *result.winner_again);
  }
  return result;
}

RegretSummary summary(const std::vector<RegretCase>& cases) {
  RegretSummary s;
  s.cases = cases.size();
  double logs = 0;
  for (const RegretCase& c : cases) {
    s.well_chosen += c.regret() <= well_chosen;
    s.worst = std::max(s.worst, c.regret());
    logs += std::log1p(c.regret());
  }
  if (!cases.empty()) s.mean = std::expm1(logs / static_cast<double>(cases.size()));
  return s;
}

}  // namespace tcsim::bench
