#include "bench/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/regret.hpp"
#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/model/countable.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/rewrites.hpp"
#include "core/optimize/search.hpp"
#include "core/plan/parts.hpp"
#include "core/plan/plan.hpp"
#include "core/saved/tuned.hpp"
#include "kernels/execute.hpp"

namespace tcsim::bench {

namespace {

// Candidates of a heat, at most. Source: chosen, so that the best of the model run first and a
// winner's neighbours soon.
constexpr std::size_t largest_heat = 32;
// Turns of a final, and where only a few runs are left. Source: chosen.
constexpr int final_turns = 5, short_final = 3, few_runs = 40;
// Ranking a neighbourhood takes at most this share of what is left of the budget. Source: chosen.
constexpr double ranking_share = 0.25;
constexpr Elements checked_per_run{500};
// Moves between the model's choice and an earlier winner, at most, for its neighbours to be found.
constexpr int most_moves_back = 2;

// A candidate whose turn has not come.
struct Waiting {
  Score score;
  Seconds predicted;
  std::optional<Tiling> tiling;  // of the family
  Schedule schedule;
};

class Tuner {
 public:
  Tuner(const Contraction& contraction, const Machine& machine, const Measure& measure,
        const TuneOptions& options)
      : contraction_(contraction),
        machine_(view_of_one_core(machine)),
        measure_(measure),
        options_(options),
        begin_(options.clock()),
        kernels_(kernel_choices(machine_.core, contraction.type())),
        search_(contraction_, machine_, how_, RowOrders::either,
                may_read_in_place(contraction, kernels_, RowOrders::either), options.stop) {}

  Tuning run() {
    show("choosing a schedule");
    const Optimized pick = optimize(contraction_, machine_, how_, options_.stop);
    pick_ = pick.tiling;
    result_.tried = options_.tried;
    known_.insert(options_.tried.begin(), options_.tried.end());
    first_run(pick_, pick.schedule);
    try {
      begin_with_earlier();
      divide_otherwise();
      while (room_for_a_heat() && next_candidates()) heat();
    } catch (const Interrupted&) {
      result_.interrupted = true;
    }
    return std::move(result_);
  }

 private:
  Seconds spent() const { return options_.clock() - begin_; }
  Seconds left() const { return options_.budget - spent(); }
  // How many runs fit into what is left of the budget.
  double runs_left() const { return runs_ == 0 ? HUGE_VAL : left() / (1.0 / runs_ * running_); }
  int turns() const { return runs_left() < few_runs ? short_final : final_turns; }
  // The best so far, one that challenges it, and the model's choice.
  int parties() const { return result_.winner == 0 ? 2 : 3; }
  bool room_for_a_final() const { return runs_left() >= parties() * short_final; }
  bool room_for_a_heat() const { return runs_left() >= 2 + parties() * short_final; }

  void show(const std::string& what) {
    if (options_.progress) options_.progress(std::min(1.0, spent() / options_.budget), what);
  }

  Samples no_samples() const {
    return Samples(contraction_.flops(), compulsory_traffic(contraction_));
  }

  Seconds predicted(const Schedule& schedule) {
    return predict(contraction_, schedule, machine_, counts_).timing.total;
  }

  // Runs it, and makes it one that ran. Returns its place.
  std::size_t first_run(const std::optional<Tiling>& tiling, Schedule schedule) {
    const Seconds time = predicted(schedule);
    return first_run(tiling, std::move(schedule), time);
  }
  std::size_t first_run(const std::optional<Tiling>& tiling, Schedule schedule, Seconds predicted) {
    std::string other = tiling ? difference(contraction_, machine_, pick_, *tiling) : outside_;
    if (other.empty() && !result_.ran.empty()) {
      Schedule undivided = schedule;
      undivided.parallel = result_.pick().schedule.parallel;
      if (undivided != result_.pick().schedule) other = "not rewritten";
    }
    if (schedule.parallel) {
      other += fmt::format("{}parallel {}", other.empty() ? "" : ", ", to_text(*schedule.parallel));
    }
    const std::optional<Sample> sample = measured(schedule);
    const std::int64_t print = fingerprint(schedule, contraction_);
    known_.insert(print);
    if (std::ranges::find(result_.tried, print) == result_.tried.end()) {
      result_.tried.push_back(print);
    }
    result_.ran.push_back(
        {std::move(other), std::move(schedule), predicted, no_samples(), no_samples(), true});
    tilings_.push_back(tiling);
    expanded_.push_back(false);
    const std::size_t place = result_.ran.size() - 1;
    note(place, sample, &Candidate::heats);
    return place;
  }
  // Nothing of a wrong result, or where there is no memory for it any more.
  std::optional<Sample> run_again(std::size_t i, Samples Candidate::*of) {
    try {
      const std::optional<Sample> sample = measured(result_.ran[i].schedule);
      note(i, sample, of);
      return sample;
    } catch (const UnsupportedError&) {
      return {};
    }
  }
  void note(std::size_t i, const std::optional<Sample>& sample, Samples Candidate::*of) {
    if (sample) {
      (result_.ran[i].*of).add(*sample);
    } else {
      result_.ran[i].correct = false;
    }
  }

  std::optional<Sample> measured(const Schedule& schedule) {
    if (options_.stop.stop_requested()) throw Interrupted();
    const Seconds begin = options_.clock();
    std::optional<Sample> sample = measure_(schedule);
    running_ += options_.clock() - begin;
    ++runs_;
    return sample;
  }

  // An earlier winner is the one to beat, but for what the model chooses now.
  void begin_with_earlier() {
    if (!options_.began_with || *options_.began_with == result_.ran[0].schedule) return;
    show("the schedule found earlier");
    outside_ = "found earlier";
    const std::size_t earlier = first_run(tiling_of(*options_.began_with), *options_.began_with);
    outside_ = "rewritten";
    if (!result_.ran[earlier].correct) return;
    result_.winner = earlier;
    final_of(0);
    note_heat();
  }

  // The best so far, with each group that several threads may divide.
  void divide_otherwise() {
    if (options_.threads < 2) return;
    const Schedule best = result_.best().schedule;
    const std::optional<Tiling> tiling = tilings_[result_.winner];
    for (DimClass g : all_dim_classes) {
      Schedule s = best;
      s.parallel = g;
      const bool divides = g == DimClass::k ? sums_are_worth_dividing(contraction_, best,
                                                                      only_path(contraction_, best),
                                                                      options_.threads)
                                            : extent_of(contraction_, s.groups[g]) > 1;
      if (!divides || known_.contains(fingerprint(s, contraction_)) || !room_for_a_heat()) continue;
      show(fmt::format("threads divide {}", to_text(g)));
      const std::size_t other = first_run(tiling, std::move(s));
      if (heat_speed(other) > heat_speed(result_.winner)) final_of(other);
    }
    parallel_ = result_.best().schedule.parallel;
    note_heat();
  }

  // The tiling near the model's choice that makes this schedule.
  std::optional<Tiling> tiling_of(const Schedule& schedule) {
    std::set<std::int64_t> seen;
    std::vector<Tiling> edge{pick_};
    for (int moves = 0; moves < most_moves_back; ++moves) {
      std::vector<Tiling> next;
      for (const Tiling& from : edge) {
        for (Tiling& t : search_.neighbours(from)) {
          if (options_.stop.stop_requested()) throw Interrupted();
          Schedule s = build(contraction_, machine_, t);
          s.parallel = schedule.parallel;
          if (s == schedule) return std::move(t);
          if (seen.insert(fingerprint(s, contraction_)).second) next.push_back(std::move(t));
        }
      }
      edge = std::move(next);
    }
    return {};
  }

  // Whether there are any: those that wait, or neighbours of what was not looked around yet, the
  // winner first, then the others from fast to slow.
  bool next_candidates() {
    if (!expanded_[result_.winner]) expand(result_.winner);
    while (waiting_.empty()) {
      std::optional<std::size_t> from;
      for (std::size_t i = 0; i < result_.ran.size(); ++i) {
        if (expanded_[i] || !result_.ran[i].correct) continue;
        if (!from || result_.ran[i].speed() > result_.ran[*from].speed()) from = i;
      }
      if (!from) return expand_unseen();
      expand(*from);
    }
    return true;
  }

  // All around was tried in earlier calls: the neighbours of one of those.
  bool expand_unseen() {
    while (waiting_.empty() && !skipped_.empty() && left().value() > 0) {
      const auto best = std::ranges::min_element(skipped_, {}, &Waiting::score);
      const Waiting from = *best;
      skipped_.erase(best);
      rank_around(from.tiling, from.schedule);
    }
    return !waiting_.empty();
  }

  void expand(std::size_t i) {
    expanded_[i] = true;
    rank_around(tilings_[i], result_.ran[i].schedule);
  }

  // The neighbours that were not seen yet wait for their turn, the best of the model first: of a
  // tiling those of the family, and of any schedule what it may be rewritten to.
  void rank_around(const std::optional<Tiling>& tiling, const Schedule& schedule) {
    std::vector<std::pair<std::optional<Tiling>, Schedule>> around;
    if (tiling) {
      const auto add = [&](Tiling t) {
        Schedule s = build(contraction_, machine_, t);
        around.emplace_back(std::move(t), std::move(s));
      };
      for (Tiling& t : search_.neighbours(*tiling)) add(std::move(t));
      constexpr std::size_t all = 1000;
      for (Neighbour& n : neighbourhood(contraction_, machine_, *tiling, all)) {
        add(std::move(n.tiling));
      }
    }
    for (Schedule& s : rewrites(contraction_, machine_, schedule)) {
      around.emplace_back(std::nullopt, std::move(s));
    }
    const Seconds end = spent() + ranking_share * left();
    for (auto& [t, s] : around) {
      if (options_.stop.stop_requested()) throw Interrupted();
      if (spent() > end) break;
      show("ranking");
      s.parallel = parallel_;
      const std::int64_t print = fingerprint(s, contraction_);
      if (!seen_.insert(print).second) continue;
      try {
        const Prediction p = predict(contraction_, s, machine_, counts_);
        Waiting one{score(contraction_, s, p, machine_, how_), p.timing.total, std::move(t),
                    std::move(s)};
        if (known_.contains(print)) {
          skipped_.push_back(std::move(one));
        } else {
          waiting_.push_back(std::move(one));
        }
      } catch (const TooLargeError&) {
        // What cannot be predicted does not run either.
      }
    }
    std::ranges::stable_sort(waiting_, {}, &Waiting::score);
  }

  // As many as fit with the rounds that follow: about 2 n runs, as many of the best so far as there
  // are rounds, and a final.
  std::size_t size_of_heat() const {
    const double for_heats = runs_left() - parties() * turns() - std::log2(largest_heat);
    const auto fit = static_cast<std::size_t>(std::clamp(for_heats / 2, 1.0, 1.0 * largest_heat));
    return std::min(fit, waiting_.size());
  }

  void heat() {
    std::vector<std::size_t> field;
    const std::size_t size = size_of_heat();
    show(fmt::format("racing {}", size));
    run_again(result_.winner, &Candidate::heats);
    for (std::size_t i = 0; i < size && room_for_a_final(); ++i) {
      show(fmt::format("racing {}", size));
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      try {
        field.push_back(first_run(next.tiling, std::move(next.schedule), next.predicted));
      } catch (const UnsupportedError&) {
        // Its packed copies do not fit into memory.
      }
    }
    while (field.size() > 1 && room_for_a_final()) {
      halve(field);
      show(fmt::format("racing {}", field.size()));
      run_again(result_.winner, &Candidate::heats);
      for (std::size_t i = 0; i < field.size() && room_for_a_final(); ++i) {
        run_again(field[i], &Candidate::heats);
      }
    }
    const auto speed = [&](std::size_t i) { return heat_speed(i); };
    const auto first = std::ranges::max_element(field, {}, speed);
    if (first != field.end() && heat_speed(*first) > heat_speed(result_.winner)) final_of(*first);
    note_heat();
  }

  void halve(std::vector<std::size_t>& field) const {
    std::ranges::stable_sort(field, std::ranges::greater(),
                             [&](std::size_t i) { return heat_speed(i); });
    field.resize((field.size() + 1) / 2);
  }

  double heat_speed(std::size_t i) const {
    const Candidate& c = result_.ran[i];
    return !c.correct || c.heats.empty() ? 0 : c.heats.of_peak();
  }

  // The best so far, the challenger and the model's choice, turn by turn.
  void final_of(std::size_t challenger) {
    const std::size_t best = result_.winner;
    std::vector<std::size_t> parties{best, challenger};
    if (best != 0 && challenger != 0) parties.push_back(0);
    std::vector<Samples> now(parties.size(), no_samples());
    const int most = turns();
    for (int turn = 0; turn < most; ++turn) {
      if (turn >= short_final && left().value() <= 0) break;
      show("a final");
      for (std::size_t p = 0; p < parties.size(); ++p) {
        const std::optional<Sample> sample = run_again(parties[p], &Candidate::finals);
        if (sample) now[p].add(*sample);
      }
    }
    const Samples &old = now[0], &next = now[1];
    if (!result_.ran[challenger].correct || next.empty()) return;
    const bool faster =
        !old.empty() &&
        next.of_peak() > old.of_peak() * (1 + std::max(old.spread(), next.spread()));
    if (faster || !result_.ran[best].correct) result_.winner = challenger;
  }

  void note_heat() {
    if (options_.after_heat) options_.after_heat(result_);
  }

  const Contraction& contraction_;
  const Machine machine_;
  const Measure& measure_;
  const TuneOptions& options_;
  const OptimizeOptions how_ = for_running();
  Seconds begin_;
  std::vector<Kernel> kernels_;
  Search search_;
  SharedCounts counts_;
  Tiling pick_;
  std::optional<DimClass> parallel_;  // of all that is ranked
  Tuning result_;
  std::vector<std::optional<Tiling>> tilings_;  // of result_.ran
  std::string outside_ = "rewritten";           // of a schedule without a tiling
  std::vector<bool> expanded_;                  // whether its neighbours were ranked
  std::set<std::int64_t> known_;                // that ran, now or earlier
  std::set<std::int64_t> seen_;                 // that were ranked
  std::deque<Waiting> waiting_;                 // the best in front
  std::vector<Waiting> skipped_;                // that ran earlier
  Seconds running_;                             // of all runs, with what is around them
  int runs_ = 0;
};

}  // namespace

double Candidate::speed() const {
  if (!correct) return 0;
  return !finals.empty() ? finals.of_peak() : !heats.empty() ? heats.of_peak() : 0;
}

double Tuning::ratio() const {
  if (winner == 0 || pick().finals.empty() || !pick().correct) return 1;
  return best().finals.of_peak() / pick().finals.of_peak();
}

std::vector<std::size_t> Tuning::finalists(std::size_t most) const {
  std::vector<std::size_t> places(ran.size());
  for (std::size_t i = 0; i < ran.size(); ++i) places[i] = i;
  const auto rank = [&](std::size_t i) {
    const Candidate& c = ran[i];
    return std::tuple(i == winner, i == 0 || !c.finals.empty(), c.speed());
  };
  std::ranges::stable_sort(places, [&](auto a, auto b) { return rank(a) > rank(b); });
  places.resize(std::min(places.size(), most));
  if (std::ranges::find(places, std::size_t{0}) == places.end()) places.back() = 0;
  std::ranges::stable_sort(places, [&](auto a, auto b) {
    return std::tuple(a == winner, ran[a].speed()) > std::tuple(b == winner, ran[b].speed());
  });
  return places;
}

Measure measured_here(const Contraction& contraction, ColdYardstick& yardstick, int threads,
                      std::uint64_t seed, std::stop_token stop) {
  return [&contraction, &yardstick, threads, seed, stop](const Schedule& schedule) {
    const Plan plan(contraction, schedule);
    Arena arena(plan);
    fill_inputs(arena, plan, seed);
    const PreparedPlan execution(plan, arena, threads);
    std::optional<Sample> sample = yardstick(
        contraction.type(), [&] { execution(stop); }, threads);
    if (!check_result(arena, plan, checked_per_run, seed).ok()) sample.reset();
    return sample;
  };
}

Tuning tune(const Contraction& contraction, const Machine& machine, const Measure& measure,
            const TuneOptions& options) {
  return Tuner(contraction, machine, measure, options).run();
}

}  // namespace tcsim::bench
