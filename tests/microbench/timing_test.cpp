// Threads, repetitions and their statistics. Nothing here asserts how fast anything is.
#include "microbench/timing.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "microbench/campaign.hpp"
#include "microbench/loops.hpp"

namespace tcsim {
namespace {

TEST(Statistics, Quantiles_interpolate_between_the_two_values_around_them) {
  EXPECT_EQ(quantile({7}, 0.3), 7);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  // Of 1..5 a quarter of the way from the first to the last is the second.
  EXPECT_EQ(quantile({5, 4, 3, 2, 1}, 0.25), 2);
  EXPECT_EQ(quantile({0, 10}, 0.75), 7.5);
  EXPECT_EQ(quantile({1, 2}, 1), 2);
}

TEST(Statistics, The_spread_is_the_interquartile_range_over_the_median) {
  EXPECT_EQ(relative_spread({9}), 0);
  EXPECT_EQ(relative_spread({1, 2, 3, 4, 5}), 2.0 / 3);
  // One disturbed repetition of five moves nothing.
  EXPECT_EQ(relative_spread({10, 10, 10, 10, 1000}), 0);
}

TEST(Team, Work_runs_once_on_each_of_the_first_threads) {
  Team team({0, 0, 0});
  std::vector<int> ran(3);
  team.run(3, [&](int i) { ++ran[static_cast<std::size_t>(i)]; });
  team.run(2, [&](int i) { ++ran[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(ran, (std::vector<int>{2, 2, 1}));
}

TEST(Team, Each_thread_stays_on_its_processor) {
  const std::vector<int> cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  Team team(cpus);
  if (!team.pinned()) GTEST_SKIP() << "pinning is not allowed here";
  std::vector<int> at(cpus.size());
  team.run(team.size(), [&](int i) { at[static_cast<std::size_t>(i)] = sched_getcpu(); });
  EXPECT_EQ(at, cpus);
}

TEST(Pinned, The_thread_may_run_where_it_could_before) {
  const std::vector<int> before = allowed_cpus();
  {
    const Pinned pinned;
    EXPECT_EQ(allowed_cpus(), std::vector<int>{before.front()});
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Team, An_exception_of_a_thread_comes_out_and_the_team_works_on) {
  Team team({0, 0});
  EXPECT_THROW(team.run(2,
                        [](int i) {
                          if (i == 1) throw std::runtime_error("no");
                        }),
               std::runtime_error);
  int ran = 0;
  team.run(1, [&](int) { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(Team, The_barrier_lets_nobody_go_before_all_have_come) {
  Team team({0, 0, 0});
  SpinBarrier barrier(3);
  std::atomic<int> come = 0, early = 0;
  team.run(3, [&](int) {
    for (int round = 1; round <= 50; ++round) {
      ++come;
      barrier.wait();
      if (come < 3 * round) ++early;
      barrier.wait();
    }
  });
  EXPECT_EQ(early, 0);
}

// Work that counts its units and takes its time.
Work counted(std::atomic<long>& units, std::atomic<long>& calls) {
  Work work;
  work.grain = 8;
  work.run = [&](int, long n) {
    units += n;
    ++calls;
    add_chain(n);
  };
  return work;
}

TEST(Timing, Repetitions_are_as_many_as_wanted_and_of_whole_grains) {
  Team team({allowed_cpus().front()});
  std::atomic<long> units = 0, calls = 0;
  Work work = counted(units, calls);
  Effort effort;
  effort.repetitions = 6;
  effort.repetition = Seconds(0.0005);
  effort.budget = Seconds(60);
  const Timed t = time_work(team, 1, work, effort, {});
  EXPECT_EQ(t.units.size(), 6u);
  EXPECT_EQ(work.units % 8, 0);
  EXPECT_GT(calls, 6);  // and those that found the length, and the warm-up
  EXPECT_EQ(units % 8, 0);
  for (Seconds s : t.units) EXPECT_GT(s.value(), 0);
  EXPECT_GT(t.frequency().value(), 0);

  const long found = work.units;
  time_work(team, 1, work, effort, {});
  EXPECT_EQ(work.units, found);  // found out once
}

TEST(Timing, All_threads_take_part_in_every_repetition) {
  Team team({0, 0});
  std::atomic<long> calls[2] = {0, 0};
  std::atomic<int> prepared = 0, refreshed = 0;
  Work work;
  work.run = [&](int thread, long n) {
    ++calls[thread];
    add_chain(n);
  };
  work.prepare = [&](int) { ++prepared; };
  work.refresh = [&](int) { ++refreshed; };
  Effort effort;
  effort.repetition = Seconds(0.0005);
  effort.budget = Seconds(0.01);
  const Timed t = time_work(team, 2, work, effort, {});
  EXPECT_GE(t.units.size(), 3u);
  EXPECT_EQ(calls[0], calls[1]);
  EXPECT_EQ(prepared, 2);
  // Once before each repetition; after a disturbance a thread works a little more.
  EXPECT_GE(refreshed, 2 * 3);
  EXPECT_EQ(refreshed % 2, 0);
  EXPECT_LE(refreshed, calls[0] + calls[1]);
}

TEST(Timing, A_stop_is_heard_between_repetitions) {
  Team team({0, 0});
  std::stop_source stop;
  Work work;
  std::atomic<int> calls = 0;
  work.run = [&](int, long) {
    if (++calls == 3) stop.request_stop();
  };
  EXPECT_THROW(time_work(team, 2, work, {}, stop.get_token()), Interrupted);
  EXPECT_LE(calls, 6);  // the others of that repetition, each with a little work before it
}

TEST(Timing, The_clock_steps_and_can_be_read) {
  const ClockQuality q = clock_quality();
  EXPECT_GT(q.resolution.value(), 0);
  EXPECT_GT(q.cost.value(), 0);
}

TEST(Measurement, It_is_unstable_if_its_repetitions_or_its_rounds_spread) {
  const auto measurement = [](std::vector<double> units, std::vector<double> rounds) {
    Measurement m;
    for (double u : units) m.timing.units.emplace_back(u);
    for (double r : rounds) m.round_medians.emplace_back(r);
    return m;
  };
  EXPECT_FALSE(measurement({100, 101, 102, 103}, {100, 102}).unstable());
  EXPECT_TRUE(measurement({100, 100, 120, 120}, {110, 110}).unstable());
  // Three rounds of three: the last one slow throughout, which the quartiles of all hide.
  EXPECT_TRUE(
      measurement({100, 100, 100, 100, 100, 100, 100, 130, 130}, {100, 100, 130}).unstable());
  EXPECT_EQ(measurement({3, 1, 2}, {}).median(), Seconds(2));
}

TEST(Campaign, Every_measurement_is_taken_in_every_round) {
  Team team({allowed_cpus().front()});
  std::vector<double> shares;
  std::vector<std::string> order;
  Campaign::Plan plan;
  plan.rounds = 3;
  plan.repetitions = 2;
  plan.repetition = Seconds(0.0002);
  plan.limit = Seconds(60);
  Campaign campaign(team, plan, 2,
                    [&](const std::string& what, double share) {
                      order.push_back(what);
                      shares.push_back(share);
                    },
                    {});
  Work work;
  work.run = [](int, long n) { add_chain(n); };
  const Measurement& a = campaign.measure("a", 1, work);
  const Measurement& b = campaign.measure("b", 1, work);
  EXPECT_EQ(campaign.finish(), 3);
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "a", "b", "a", "b"}));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_DOUBLE_EQ(shares[i], static_cast<double>(i) / 6);
  }
  for (const Measurement* m : {&a, &b}) {
    EXPECT_GE(m->timing.units.size(), 6u);
    EXPECT_EQ(m->round_medians.size(), 3u);
  }
}

TEST(Campaign, No_round_is_begun_that_would_not_end_in_time) {
  Team team({allowed_cpus().front()});
  Campaign::Plan plan;
  plan.limit = Seconds(0);
  Campaign campaign(team, plan, 1, {}, {});
  Work work;
  work.run = [](int, long n) { add_chain(n); };
  campaign.measure("a", 1, work);
  EXPECT_EQ(campaign.finish(), 1);
}

}  // namespace
}  // namespace tcsim
