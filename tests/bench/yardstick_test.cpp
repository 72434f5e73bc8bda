// The arithmetic of samples, worked out by hand, and small benchmarks that are complete and right.
// Nothing here asks how fast anything is.
#include "bench/yardstick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/kernels.hpp"
#include "bench/peers.hpp"
#include "bench/regret.hpp"
#include "bench/small.hpp"
#include "bench/suite.hpp"
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/parse.hpp"

namespace tcsim::bench {
namespace {

Sample sample(double seconds, double peak, double bandwidth) {
  return {Seconds(seconds), FlopsPerSecond(peak), BytesPerSecond(bandwidth),
          BytesPerSecond(bandwidth)};
}

TEST(Times, Are_never_none) {
  for (int i = 0; i < 1000; ++i) EXPECT_GT(time_of([] {}), Seconds(0));
}

TEST(Samples, Of_peak_and_limit_are_medians_of_what_was_measured_around_each) {
  // 100 operations, 30 bytes.
  Samples s(100, {Bytes(15), Bytes(15)});
  s.add(sample(4, 50, 10));   // rate 25, of peak 0.5; limit max(2, 3) = 3 s: 0.75
  s.add(sample(5, 50, 60));   // rate 20, of peak 0.4; limit max(2, 0.5): 0.4
  s.add(sample(10, 20, 30));  // rate 10, of peak 0.5; limit max(5, 1): 0.5
  EXPECT_DOUBLE_EQ(s.rate().value(), 20);
  EXPECT_DOUBLE_EQ(s.of_peak(), 0.5);
  EXPECT_DOUBLE_EQ(s.of_limit(), 0.5);
  EXPECT_DOUBLE_EQ(s.peak().value(), 50);
  EXPECT_DOUBLE_EQ(s.bandwidth().value(), 30);
  EXPECT_DOUBLE_EQ(s.time().value(), 5);
}

TEST(Samples, Without_a_bandwidth_the_peak_is_the_limit) {
  Samples s(100, {Bytes(500), Bytes(500)});
  s.add(sample(4, 50, 0));
  EXPECT_DOUBLE_EQ(s.of_limit(), 0.5);
}

// 20 bytes come in and 5 go out: 10 both ways and 15 alone.
TEST(Samples, What_only_comes_in_is_limited_by_loads) {
  Samples s(1, {Bytes(20), Bytes(5)});
  s.add({Seconds(10), FlopsPerSecond(50), BytesPerSecond(10), BytesPerSecond(5)});
  EXPECT_DOUBLE_EQ(s.of_limit(), 0.4);
}

TEST(Samples, Compulsory_traffic_counts_C_read_and_written) {
  const Contraction c = parse_contraction("ij-ik-kj", {{'i', 2}, {'j', 3}, {'k', 5}},
                                          Layout::row_major, ElementType::f64);
  EXPECT_EQ(compulsory_traffic(c), (Moved{Bytes(8 * (2 * 5 + 5 * 3 + 2 * 3)), Bytes(8 * 2 * 3)}));
}

TEST(Samples, A_suite_is_summed_up_by_geometric_means) {
  const Contraction c = parse_contraction("ij-ik-kj", {{'i', 2}, {'j', 3}, {'k', 5}},
                                          Layout::row_major, ElementType::f64);
  const auto contestant = [&](const char* name, double seconds, double error) {
    Samples s(100, {});
    s.add(sample(seconds, 100, 1));
    return Contestant{name, "", s, error};
  };
  // 0.5 and 0.125 of the peak; the best peer 0.25 and 0.5; a wrong one does not count.
  const std::vector<SuiteCase> cases{
      {c, {}, {contestant("tcsim", 2, 0), contestant("p", 4, 0), contestant("q", 1, 2)}},
      {c, {}, {contestant("tcsim", 8, 0), contestant("p", 5, 0), contestant("q", 2, 0)}}};
  EXPECT_EQ(cases[0].best_peer()->name, "p");
  EXPECT_EQ(cases[1].best_peer()->name, "q");
  EXPECT_FALSE(cases[0].correct());
  EXPECT_TRUE(cases[1].correct());
  const auto s = summary(cases);
  ASSERT_TRUE(s);
  EXPECT_DOUBLE_EQ(s->of_peak, 0.25);
  EXPECT_NEAR(*s->best_peer_of_peak, std::sqrt(0.125), 1e-15);
  EXPECT_NEAR(*s->ratio, std::sqrt(2 * 0.25), 1e-15);
  EXPECT_EQ(s->slower, 1);
  EXPECT_FALSE(summary(std::vector<SuiteCase>{}));
}

// 1 to 5 times what was expected, and a case of which nothing was.
TEST(Samples, Times_are_told_in_those_that_were_expected) {
  const Contraction c = parse_contraction("ij-ik-kj", {{'i', 2}, {'j', 3}, {'k', 5}},
                                          Layout::row_major, ElementType::f64);
  std::vector<SuiteCase> cases;
  for (const double seconds : {3.0, 1.0, 5.0, 2.0, 4.0, 7.0}) {
    Samples s(100, {});
    s.add(sample(seconds, 100, 1));
    cases.push_back({c, {}, {Contestant{"tcsim", "", s, 0}}});
    if (seconds < 7) cases.back().expected = Seconds(1);
  }
  EXPECT_FALSE(cases.back().off());
  EXPECT_DOUBLE_EQ(*cases.front().off(), 3);
  const auto e = expectation(cases);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->cases, 5);
  EXPECT_DOUBLE_EQ(e->median, 3);
  EXPECT_DOUBLE_EQ(e->low, 1.4);
  EXPECT_DOUBLE_EQ(e->high, 4.6);
  EXPECT_EQ(e->near, 1);
  EXPECT_FALSE(expectation({cases.back()}));
}

Contraction small_contraction() {
  return parse_contraction("abc-adc-bd", {{'a', 20}, {'b', 30}, {'c', 4}, {'d', 25}},
                           Layout::column_major, ElementType::f64);
}

TEST(Benchmarks, A_case_has_tcsim_and_every_installed_peer_and_all_are_right) {
  const Contraction c = small_contraction();
  const Machine m = find_machine("i7-6700k");
  ColdYardstick yardstick;
  SuiteOptions options;
  options.repetitions = 2;
  std::size_t peers = 0;
  for (const Library& l : contraction_libraries()) {
    options.libraries.push_back(l.word);
    if (l.installed) peers += l.peers.size();
  }
  std::vector<double> shares;
  options.progress = [&](double share) { shares.push_back(share); };
  const SuiteCase result = bench_case(c, optimize(c, m).schedule, yardstick, options);
  ASSERT_EQ(result.contestants.size(), 1 + peers);
  EXPECT_EQ(result.contestants[0].name, "tcsim");
  for (const Contestant& one : result.contestants) {
    EXPECT_LE(one.worst_error, 1) << one.name;
    EXPECT_GT(one.samples.rate().value(), 0) << one.name;
    EXPECT_GT(one.samples.bandwidth().value(), 0) << one.name;
  }
  // Peers that are slow the first time have no second.
  const auto runs = [](const SuiteCase& r) {
    std::size_t all = 0;
    for (const Contestant& one : r.contestants) all += one.samples.count();
    return all;
  };
  EXPECT_EQ(result.contestants[0].samples.count(), 2u);
  EXPECT_EQ(shares.size(), runs(result));
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  options.worth_repeating = 0;
  EXPECT_EQ(runs(bench_case(c, result.schedule, yardstick, options)),
            2 * result.contestants.size());
  options.worth_repeating = 2;
  EXPECT_EQ(runs(bench_case(c, result.schedule, yardstick, options)),
            1 + result.contestants.size());
  options.hot = true;
  for (const Contestant& one : bench_case(c, result.schedule, yardstick, options).contestants) {
    EXPECT_LE(one.worst_error, 1) << one.name;
    EXPECT_EQ(one.samples.bandwidth().value(), 0) << one.name;
  }
  std::stop_source stop;
  stop.request_stop();
  options.stop = stop.get_token();
  EXPECT_THROW(bench_case(c, result.schedule, yardstick, options), Interrupted);
}

TEST(Benchmarks, Small_sizes_are_right_in_both_layouts) {
  for (Layout layout : {Layout::row_major, Layout::column_major}) {
    SmallOptions options;
    options.last = 10;
    options.columns = 16;
    options.depth = 24;
    options.layout = layout;
    options.repetitions = 1;
    options.at_least = Seconds(1e-6);
    options.libraries = {"openblas", "libxsmm"};
    const std::vector<SmallSize> sizes = bench_small(find_machine("i7-6700k"), options);
    ASSERT_EQ(sizes.size(), 3u);
    for (const SmallSummary& s : summary(sizes)) {
      EXPECT_TRUE(s.correct) << s.name << " " << to_text(layout);
      EXPECT_GE(s.mean, s.worst);
      EXPECT_GE(s.worst_rows, 8);
    }
    std::stop_source stop;
    stop.request_stop();
    options.stop = stop.get_token();
    EXPECT_TRUE(bench_small(find_machine("i7-6700k"), options).empty());
  }
}

TEST(Benchmarks, Regret_is_of_the_second_race_only) {
  const Contraction c = small_contraction();
  const auto of = [](std::initializer_list<double> seconds) {
    Samples s(100, {});
    for (double t : seconds) s.add(sample(t, 100, 1));
    return s;
  };
  RegretCase r{
      c,
      {{"", {}, "", Seconds(2), of({4}), true}, {"kernel 8x6", {}, "", Seconds(3), of({2}), true}},
      1,
      {},
      {}};
  r.pick_again = of({4, 4, 4});
  r.winner_again = of({3, 3.2, 3.5});
  EXPECT_NEAR(r.regret(), 4 / 3.2 - 1, 1e-12);
  EXPECT_NEAR(r.predicted_loss(), 0.5, 1e-12);
  r.winner_again = of({5});
  EXPECT_EQ(r.regret(), 0);
  RegretCase won{c, {{"", {}, "", Seconds(2), of({2}), true}}, 0, {}, {}};
  EXPECT_EQ(won.regret(), 0);
  r.winner_again = of({3.9});
  const RegretSummary s = summary({r, won});
  EXPECT_EQ(s.cases, 2u);
  EXPECT_EQ(s.well_chosen, 2u);
  EXPECT_NEAR(s.worst, 4 / 3.9 - 1, 1e-12);
  EXPECT_NEAR(s.mean, std::sqrt(4 / 3.9) - 1, 1e-12);
}

TEST(Benchmarks, Regret_races_the_pick_and_its_neighbours) {
  ColdYardstick yardstick;
  RegretOptions options;
  options.neighbours = 3;
  options.repetitions = 1;
  options.second_race = 1;
  const RegretCase r =
      bench_regret(small_contraction(), find_machine("i7-6700k"), yardstick, options);
  ASSERT_GT(r.raced.size(), 1u);
  ASSERT_LE(r.raced.size(), 4u);
  EXPECT_TRUE(r.correct());
  EXPECT_EQ(r.raced.front().difference, "");
  EXPECT_GT(r.raced.front().predicted.value(), 0);
  for (std::size_t i = 1; i < r.raced.size(); ++i) {
    EXPECT_NE(r.raced[i].difference, "");
    EXPECT_FALSE(r.raced[i].samples.empty());
  }
  EXPECT_EQ(r.winner != 0, r.winner_again.has_value());
}

}  // namespace
}  // namespace tcsim::bench
