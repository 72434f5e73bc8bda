#include "kernels/race.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/error.hpp"
#include "core/optimize/optimize.hpp"
#include "core/optimize/runners_up.hpp"
#include "core/workload/parse.hpp"
#include "kernels/contract.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using Order = std::vector<std::size_t>;

// A tournament of such times, each the same in every run, and who ran in it.
std::size_t winner(const std::vector<double>& times, Order* ran = nullptr) {
  return tournament(times.size(), [&](std::size_t i) {
    if (ran != nullptr) ran->push_back(i);
    return Seconds(times[i]);
  });
}

TEST(Tournament, Finds_the_quickest_where_times_are_certain) {
  std::mt19937_64 random(test::new_seed());
  for (int i = 0; i < 200; ++i) {
    std::vector<double> times(1 + random() % 20);
    for (double& t : times) t = static_cast<double>(1 + random() % 1000);
    const double least = *std::ranges::min_element(times);
    EXPECT_EQ(times[winner(times)], least);
  }
}

TEST(Tournament, Lets_the_quicker_half_run_again_and_the_last_meet_the_first) {
  Order ran;
  EXPECT_EQ(winner({5, 4, 3, 2, 1}, &ran), 4U);
  const Order expected{0, 1, 2, 3, 4, /**/ 4, 3, 2, /**/ 4, 3, /**/ 0, 4, 0, 4, 0, 4, 0, 4, 0, 4};
  EXPECT_EQ(ran, expected);
  ran.clear();
  EXPECT_EQ(winner({1, 2}, &ran), 0U);
  EXPECT_EQ(ran, (Order{0, 1}));  // the first is left: there is nobody to meet
  ran.clear();
  EXPECT_EQ(winner({1}, &ran), 0U);
  EXPECT_TRUE(ran.empty());
}

TEST(Tournament, Leaves_the_first_where_none_is_quicker_most_of_the_time) {
  EXPECT_EQ(winner({1, 1, 1}), 0U);
  // It was quicker once, and in so many of the five turns.
  for (const int times : {2, 3}) {
    int run = 0;
    EXPECT_EQ(tournament(2,
                         [&](std::size_t i) {
                           if (i == 0) return Seconds(2);
                           ++run;
                           return Seconds(run <= 1 + times ? 1 : 3);
                         }),
              times == 3 ? 1U : 0U);
  }
}

// One lucky run does not decide.
TEST(Tournament, Counts_medians) {
  std::vector<int> runs(8);
  const std::size_t won = tournament(8, [&](std::size_t i) {
    const int run = ++runs[i];
    if (i == 3) return Seconds(run == 2 ? 9.0 : 1.0);
    return Seconds(i == 5 ? 1.5 : 2.0 + 0.1 * static_cast<double>(i));
  });
  EXPECT_EQ(runs[3], 2);  // 1, 9: behind 1.5, 1.5
  EXPECT_EQ(won, 5U);
}

TEST(Tournament, Ends_with_the_first_when_time_is_up) {
  for (int most = 0; most < 20; ++most) {
    int runs = 0, asked = 0;
    const std::size_t won = tournament(
        4,
        [&](std::size_t i) {
          ++runs;
          return Seconds(10.0 - static_cast<double>(i));
        },
        [&] { return asked++ < most; });
    // Four, two, and five turns of two.
    EXPECT_EQ(won, most < 6 + 5 ? 0U : 3U) << most;
    EXPECT_LE(runs, most + 5);
  }
}

Contraction of(const char* label, const char* sizes, ElementType type = ElementType::f64) {
  return parse_contraction(label, parse_sizes(sizes), Layout::row_major, type);
}

TEST(Race, Runs_the_choice_and_the_runners_up) {
  const Contraction c = of("abc-adc-db", "a=20,b=13,c=17,d=30", ElementType::f32);
  const Machine m = assumed_machine();
  const Optimized chosen = optimize(c, m, for_running());
  std::vector<Schedule> field = runners_up(c, m, chosen, 4, for_running());
  ASSERT_EQ(field.size(), 4U);
  field.insert(field.begin(), chosen.schedule);
  for (const bool hot : {false, true}) {
    for (const int threads : {1, 2}) {
      RaceOptions options;
      options.schedules = 5;
      options.hot = hot;
      options.threads = threads;
      double last = 0;
      options.progress = [&](double share) { last = share; };
      const Raced raced = race(c, m, options);
      EXPECT_EQ(raced.ran, 5U);
      EXPECT_EQ(raced.won, raced.schedule != chosen.schedule);
      if (threads == 1) {
        EXPECT_EQ(std::ranges::count(field, raced.schedule), 1);
      }
      EXPECT_GT(last, 0);
      EXPECT_LE(last, 1);
      // It computes what it should.
      std::vector<float> a(20 * 30 * 17, 1), b(30 * 13, 2), out(20 * 13 * 17);
      Contractor<float>(c, raced.schedule, threads)(a.data(), b.data(), out.data());
      EXPECT_EQ(out, std::vector<float>(out.size(), 60));
    }
  }
}

TEST(Race, Of_one_is_the_models_choice) {
  const Contraction c = of("ab-ac-cb", "a=40,b=30,c=20");
  RaceOptions options;
  options.schedules = 1;
  const Raced raced = race(c, assumed_machine(), options);
  EXPECT_EQ(raced.schedule, optimize(c, assumed_machine(), for_running()).schedule);
  EXPECT_FALSE(raced.won);
}

TEST(Race, Without_time_is_the_models_choice) {
  const Contraction c = of("ab-ac-cb", "a=40,b=30,c=20");
  RaceOptions options;
  options.most = Seconds(0);
  const Raced raced = race(c, assumed_machine(), options);
  EXPECT_EQ(raced.schedule, optimize(c, assumed_machine(), for_running()).schedule);
  EXPECT_FALSE(raced.won);
}

TEST(Race, Ends_when_asked_to_stop) {
  std::stop_source source;
  RaceOptions options;
  options.stop = source.get_token();
  options.progress = [&](double) { source.request_stop(); };
  EXPECT_THROW(race(of("ab-ac-cb", "a=40,b=30,c=20"), assumed_machine(), options), Interrupted);
}

}  // namespace
}  // namespace tcsim
