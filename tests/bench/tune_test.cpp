// How tcsim tune searches, with made-up times.
#include "bench/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/saved/tuned.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/request.hpp"

namespace tcsim::bench {
namespace {

Contraction matmul(std::int64_t n = 480) {
  return parse_contraction("ij-ik-kj", {{'i', n}, {'j', n}, {'k', n}}, Layout::row_major,
                           ElementType::f64);
}

// A machine on which every run takes a second of the clock.
class Tune : public testing::Test {
 protected:
  Contraction contraction_ = matmul();
  const Machine machine_ = find_machine("i9-7940x");
  double clock_ = 0;
  std::map<std::string, int> runs_;  // of each schedule
  int all_runs_ = 0;

  std::string line(const Schedule& s) const { return to_line(s, contraction_); }

  // A run whose share of the peak is `share`.
  Sample sample(double share, double peak = 1e9) const {
    return {Seconds(contraction_.flops() / (share * peak)), FlopsPerSecond(peak)};
  }

  // `share` says what a schedule's run reaches; 0 for a wrong result.
  Measure measure(const std::function<double(const Schedule&)>& share) {
    return [this, share](const Schedule& s) -> std::optional<Sample> {
      clock_ += 1;
      ++runs_[line(s)];
      ++all_runs_;
      const double reached = share(s);
      if (reached <= 0) return {};
      return sample(reached);
    };
  }

  TuneOptions options(double budget = 200) {
    TuneOptions o;
    o.budget = Seconds(budget);
    o.clock = [this] { return Seconds(clock_); };
    return o;
  }

  Tuning tuned(const std::function<double(const Schedule&)>& share, const TuneOptions& how) {
    return tune(contraction_, machine_, measure(share), how);
  }

  Schedule models_choice() const {
    return optimize(contraction_, machine_, for_running()).schedule;
  }
  static const Kernel& kernel_of(const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) return kernel_of(*loop->body);
    if (const auto* move = std::get_if<Move>(&node.is)) return kernel_of(*move->body);
    if (const auto* seq = std::get_if<Seq>(&node.is)) return kernel_of(seq->parts.front().node);
    return std::get<Kernel>(node.is);
  }
};

TEST_F(Tune, Where_all_are_alike_the_models_choice_stays) {
  const Tuning t = tuned([](const Schedule&) { return 0.5; }, options());
  EXPECT_EQ(t.winner, 0u);
  EXPECT_EQ(t.ratio(), 1);
  EXPECT_FALSE(t.interrupted);
  EXPECT_EQ(t.best().schedule, models_choice());
  EXPECT_GT(t.ran.size(), 30u);
  EXPECT_EQ(t.ran.size(), t.tried.size());
}

TEST_F(Tune, The_fastest_wins_and_its_speed_is_that_of_finals) {
  const Elements usual = kernel_of(models_choice().root).nr;
  const Tuning t = tuned(
      [&](const Schedule& s) { return kernel_of(s.root).nr == usual ? 0.4 : 0.6; }, options());
  EXPECT_NE(kernel_of(t.best().schedule.root).nr, usual);
  EXPECT_NEAR(t.ratio(), 1.5, 1e-9);
  EXPECT_GE(t.best().finals.count(), 3u);
  EXPECT_GE(t.pick().finals.count(), 3u);
  EXPECT_TRUE(t.best().difference.starts_with("kernel ")) << t.best().difference;
  EXPECT_EQ(t.finalists(3).front(), t.winner);
}

// What threads divide is a part of the schedule, for neighbours of the winner too.
TEST_F(Tune, Tries_what_several_threads_divide) {
  TuneOptions two = options();
  two.threads = 2;
  const auto rows = [](const Schedule& s) { return s.parallel == DimClass::m ? 0.6 : 0.4; };
  const Tuning t = tuned(rows, two);
  EXPECT_EQ(t.best().schedule.parallel, DimClass::m);
  EXPECT_NEAR(t.ratio(), 1.5, 1e-9);
  EXPECT_EQ(t.best().difference, "parallel m");
  EXPECT_GT(std::ranges::count_if(
                t.ran, [](const Candidate& c) { return c.schedule.parallel == DimClass::m; }),
            20);
  const Tuning one = tuned(rows, options());
  EXPECT_TRUE(std::ranges::none_of(
      one.ran, [](const Candidate& c) { return c.schedule.parallel.has_value(); }));
}

TEST_F(Tune, Goes_on_from_a_winner) {
  contraction_ = matmul(240);  // thousands are predicted
  // Every piece of the text that the pick does not have makes it faster; no single move has both.
  const std::string pick = line(models_choice());
  const Elements usual = kernel_of(models_choice().root).nr;
  const auto two_things = [&](const Schedule& s) {
    const bool kernel = kernel_of(s.root).nr != usual;
    const bool packed = line(s).find("pack") != std::string::npos;
    const bool pick_packed = pick.find("pack") != std::string::npos;
    return 0.3 + 0.2 * kernel + 0.2 * (packed != pick_packed);
  };
  const Tuning t = tuned(two_things, options(2000));
  EXPECT_NEAR(t.best().speed(), 0.7, 1e-9) << line(t.best().schedule);
}

TEST_F(Tune, What_is_faster_by_less_than_the_spread_does_not_win) {
  const std::string pick = line(models_choice());
  const auto noisy = [&](const Schedule& s) {
    const double noise[] = {1.0, 0.8, 1.2};  // the median of a final of 3 or 5 turns is 1
    return (line(s) == pick ? 0.5 : 0.52) * noise[runs_[line(s)] % 3];
  };
  EXPECT_EQ(tuned(noisy, options()).winner, 0u);
}

TEST_F(Tune, A_slower_minute_does_not_decide) {
  const std::string pick = line(models_choice());
  const Measure measure = [&](const Schedule& s) {
    clock_ += 1;
    // The machine runs at half its speed, but for the time of the model's choice.
    return std::optional(sample(0.5, line(s) == pick ? 2e9 : 1e9));
  };
  EXPECT_EQ(tune(contraction_, machine_, measure, options()).winner, 0u);
}

TEST_F(Tune, A_wrong_result_never_wins) {
  const std::string pick = line(models_choice());
  const Tuning t = tuned([&](const Schedule& s) { return line(s) == pick ? 0.1 : 0.0; }, options());
  EXPECT_EQ(t.winner, 0u);
  for (std::size_t i = 1; i < t.ran.size(); ++i) EXPECT_FALSE(t.ran[i].correct);
  // Nor does the model's choice keep its place with one.
  clock_ = 0;
  const Tuning other =
      tuned([&](const Schedule& s) { return line(s) == pick ? 0.0 : 0.1; }, options());
  EXPECT_NE(other.winner, 0u);
  EXPECT_TRUE(other.best().correct);
}

TEST_F(Tune, Keeps_to_its_budget) {
  for (double budget : {0.5, 5.0, 12.0, 30.0, 100.0, 333.0}) {
    clock_ = 0;
    all_runs_ = 0;
    tuned(
        [&](const Schedule& s) { return 0.3 + 0.0001 * static_cast<double>(line(s).size() % 97); },
        options(budget));
    EXPECT_LE(clock_, std::max(1.0, budget + 1)) << budget;
    if (budget >= 30) {
      EXPECT_GT(clock_, 0.8 * budget) << budget;
    }
  }
}

TEST_F(Tune, Stopped_it_has_the_best_so_far) {
  const Elements usual = kernel_of(models_choice().root).nr;
  const auto faster = [&](const Schedule& s) {
    if (all_runs_ == 120) throw Interrupted();
    return kernel_of(s.root).nr == usual ? 0.4 : 0.6;
  };
  TuneOptions how = options(100000);
  std::size_t noted = 0;
  how.after_heat = [&](const Tuning& t) { noted = t.ran.size(); };
  const Tuning t = tuned(faster, how);
  EXPECT_TRUE(t.interrupted);
  EXPECT_NE(t.winner, 0u);
  EXPECT_GT(noted, 0u);
  for (const Candidate& c : t.ran) EXPECT_GT(c.heats.count(), 0u) << "it did not run";
  EXPECT_EQ(t.ran.size(), t.tried.size());
}

TEST_F(Tune, Stopped_before_anything_ran_it_has_nothing) {
  EXPECT_THROW(tuned([](const Schedule&) -> double { throw Interrupted(); }, options()),
               Interrupted);
  std::stop_source stop;
  stop.request_stop();
  TuneOptions how = options();
  how.stop = stop.get_token();
  EXPECT_THROW(tuned([](const Schedule&) { return 0.5; }, how), Interrupted);
}

TEST_F(Tune, A_second_call_begins_with_the_winner_and_runs_what_did_not_run) {
  const Elements usual = kernel_of(models_choice().root).nr;
  const auto share = [&](const Schedule& s) { return kernel_of(s.root).nr == usual ? 0.4 : 0.6; };
  const Tuning first = tuned(share, options());
  const std::string winner = line(first.best().schedule), pick = line(first.pick().schedule);
  clock_ = 0;
  runs_.clear();
  TuneOptions how = options();
  how.began_with = first.best().schedule;
  how.tried = first.tried;
  const Tuning second = tuned(share, how);
  const std::set<std::int64_t> before(first.tried.begin(), first.tried.end());
  std::size_t again = 0;
  for (const Candidate& c : second.ran) {
    again += before.contains(fingerprint(c.schedule, contraction_));
  }
  EXPECT_EQ(again, 2u);  // the model's choice and the winner
  EXPECT_GT(second.ran.size(), 20u);
  EXPECT_EQ(second.tried.size(), first.tried.size() + second.ran.size() - 2);
  EXPECT_EQ(line(second.best().schedule), winner);
  EXPECT_NEAR(second.ratio(), 1.5, 1e-9);
}

TEST_F(Tune, An_earlier_winner_that_is_slower_now_gives_way) {
  const std::string pick = line(models_choice());
  const Tuning first =
      tuned([&](const Schedule& s) { return line(s) == pick ? 0.4 : 0.6; }, options());
  ASSERT_NE(first.winner, 0u);
  TuneOptions how = options();
  clock_ = 0;
  how.began_with = first.best().schedule;
  how.tried = first.tried;
  const Tuning second = tuned([&](const Schedule& s) { return line(s) == pick ? 0.6 : 0.4; }, how);
  EXPECT_EQ(second.winner, 0u);
  EXPECT_EQ(second.ratio(), 1);
}

TEST_F(Tune, A_candidate_that_does_not_fit_into_memory_is_left_out) {
  const std::string pick = line(models_choice());
  int refused = 0;
  const auto large = [&](const Schedule& s) {
    if (line(s) != pick && ++refused % 2 == 1) throw UnsupportedError("x", "too large", "");
    return 0.5;
  };
  EXPECT_GT(tuned(large, options()).ran.size(), 5u);
  EXPECT_THROW(
      tuned([](const Schedule&) -> double { throw UnsupportedError("x", "too large", ""); },
            options()),
      UnsupportedError);
}

// What is worth trying for a convolution whose channels are innermost.
TEST_F(Tune, Candidates_of_a_convolution_differ_in_everything_that_a_schedule_has) {
  const Contraction conv = find_workload(
      {"conv2d", "k=64,c=64,y=28,x=28,r=3,s=3,layout=nhwc", std::nullopt, std::nullopt});
  const Measure measure = [&](const Schedule&) {
    clock_ += 1;
    return std::optional(Sample{Seconds(1), FlopsPerSecond(1e12)});
  };
  const Tuning t = tune(conv, machine_, measure, options(1000));
  for (const char* part :
       {"kernel ", "register loops", "packed", "loops of ", "m of ", "n of ", "k of "}) {
    bool any = false;
    for (const Candidate& c : t.ran) any |= c.difference.find(part) != std::string::npos;
    EXPECT_TRUE(any) << part;
  }
  std::vector<std::string> levels;
  for (const Level& l : machine_.levels) levels.push_back(l.name);
  for (const Candidate& c : t.ran) EXPECT_NO_THROW(check(c.schedule, conv, levels, c.difference));
}

TEST_F(Tune, Really_runs) {
  ColdYardstick yardstick;
  const Measure measure = measured_here(contraction_, yardstick, 1, 1, {});
  const Schedule pick = models_choice();
  const std::optional<Sample> one = measure(pick);
  ASSERT_TRUE(one);
  EXPECT_GT(one->time.value(), 0);
  EXPECT_GT(one->peak.value(), 0);
  EXPECT_TRUE(measured_here(contraction_, yardstick, 2, 1, {})(pick));
}

}  // namespace
}  // namespace tcsim::bench
