// The judge of the model: errors, reasons, summaries; whatever the number of threads.
#include "sim/validate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stop_token>
#include <tuple>
#include <vector>

#include "core/error.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

Machine small_machine() { return test::machine({{8, 4}, {64, 4}}); }

Schedule blocked() {
  return test::schedule(
      "groups m=j n=i k=k for k by 40 { pack B in L2 { for n by 30 { pack A in L2 { for m by 24 { "
      "for n by 6 { for m by 8 { kernel 8x6 } } } } } } }");
}

ValidatedLink gap(std::int64_t predicted, std::vector<Trial> tried) {
  ValidatedLink link;
  link.all = {Bytes(predicted), Bytes(100)};
  link.tried = std::move(tried);
  link.explain = 0.05;
  return link;
}

TEST(Validate, Error_is_signed_and_relative_to_the_simulation) {
  EXPECT_DOUBLE_EQ((Compared{Bytes(90), Bytes(120)}.error()), -0.25);
  EXPECT_DOUBLE_EQ((Compared{Bytes(150), Bytes(120)}.error()), 0.25);
  EXPECT_EQ((Compared{Bytes(0), Bytes(0)}.error()), 0);
  EXPECT_EQ((Compared{Bytes(1), Bytes(0)}.error()), std::numeric_limits<double>::infinity());
}

TEST(Validate, Reason_is_the_first_cause_without_which_the_gap_is_small) {
  EXPECT_EQ(reason_text(gap(104, {})), "");
  EXPECT_EQ(reason_text(gap(110, {{Cause::packing, 0.09}, {Cause::conflict, -0.05}})), "conflict");
  EXPECT_EQ(reason_text(gap(80, {{Cause::conflict, -0.1}, {Cause::lru_interference, 0.06}})),
            "mostly LRU interference");
  EXPECT_EQ(reason_text(gap(80, {{Cause::conflict, -0.11}, {Cause::line_granularity, 0.3}})),
            "unexplained");
}

// 10 errors of 1 to 10 %: the middle two are 5 and 6 %, nine of ten are at most 9 %.
TEST(Validate, Summary_of_ten_links) {
  std::vector<Validated> all(2);
  for (int i = 1; i <= 10; ++i) {
    ValidatedLink link;
    link.all = {Bytes(i % 2 == 0 ? 1000 + 10 * i : 1000 - 10 * i), Bytes(1000)};
    all[static_cast<std::size_t>(i % 2)].links.push_back(link);
  }
  const ValidationSummary s = summary(all);
  EXPECT_EQ(s.links, 10u);
  EXPECT_NEAR(s.median, 0.055, 1e-12);
  EXPECT_NEAR(s.p90, 0.09, 1e-12);
  EXPECT_NEAR(s.worst, 0.10, 1e-12);
  EXPECT_EQ(summary({}).links, 0u);
}

// m: 96 in tiles of 40 becomes 48 (1.2 times; 32 is 1.25 times less), and 24 divides 48. n: the
// nearest divisors of 60 to 24 that hold whole kernels of 6 are 30 and 12. k: 50 of 90 becomes 45.
TEST(Validate, Dividing_tiles_are_the_nearest_ones) {
  const Contraction c = test::matmul(60, 96, 90);
  const auto nest = [](int m, int n, int k) {
    return test::schedule(
        fmt::format("groups m=j n=i k=k for m by {} {{ for n by {} {{ for k by {} "
                    "{{ for m by 24 {{ for n by 6 {{ for m by 8 {{ kernel 8x6 }} "
                    "}} }} }} }} }}",
                    m, n, k));
  };
  EXPECT_EQ(to_line(with_dividing_tiles(c, nest(40, 24, 50)), c), to_line(nest(48, 30, 45), c));
  EXPECT_EQ(with_dividing_tiles(c, nest(48, 30, 45)), nest(48, 30, 45));
}

TEST(Validate, Tensors_add_up_and_links_are_those_behind_the_registers) {
  const Validated v = validate(test::matmul(90, 100, 80), blocked(), small_machine());
  ASSERT_EQ(v.links.size(), 2u);
  EXPECT_EQ(v.links[0].level, LevelId{1});
  for (const ValidatedLink& link : v.links) {
    Bytes predicted, simulated;
    for (const Compared& t : link.by_tensor) predicted += t.predicted, simulated += t.simulated;
    EXPECT_EQ(predicted, link.all.predicted);
    EXPECT_EQ(simulated, link.all.simulated);
    EXPECT_GT(simulated, Bytes(0));
  }
}

// Listing 3 knows nothing of partial tiles' windows nor of sets, so there are gaps to explain.
TEST(Validate, Causes_are_tried_in_order_until_one_explains) {
  ValidateOptions options;
  options.model = ModelKind::listing3;
  options.explain = 0.01;
  const Validated v = validate(test::matmul(90, 100, 80), blocked(), small_machine(), options);
  int gaps = 0;
  for (const ValidatedLink& link : v.links) {
    if (std::abs(link.all.error()) <= options.explain) {
      EXPECT_TRUE(link.tried.empty());
      continue;
    }
    ++gaps;
    ASSERT_FALSE(link.tried.empty());
    EXPECT_EQ(link.tried.front().cause, Cause::packing);
    for (std::size_t i = 0; i + 1 < link.tried.size(); ++i) {
      EXPECT_LT(link.tried[i].cause, link.tried[i + 1].cause);
      EXPECT_GT(std::abs(link.tried[i].error), options.explain);
    }
  }
  EXPECT_GT(gaps, 0);
}

// Whole simulations are the slow way to the same reasons. By shares of the sets a trial is an
// estimate, here of arrays of a few thousand lines.
TEST(Validate, Shares_of_the_sets_name_the_reasons_of_whole_simulations) {
  const Machine m = test::machine({{64, 4}, {128, 8}, {512, 8}});
  ValidateOptions shares, whole;
  shares.model = whole.model = ModelKind::listing3;
  shares.explain = whole.explain = 0.02;
  whole.whole_trials = true;
  int compared = 0, same = 0, reasons = 0;
  for (const auto& [rows, columns, k] :
       {std::tuple{190, 200, 180}, {90, 300, 250}, {333, 120, 144}}) {
    const Contraction c = test::matmul(rows, columns, k);
    const Validated a = validate(c, blocked(), m, shares), b = validate(c, blocked(), m, whole);
    for (std::size_t l = 0; l < a.links.size(); ++l) {
      EXPECT_EQ(a.links[l].all, b.links[l].all);
      EXPECT_EQ(a.links[l].by_tensor, b.links[l].by_tensor);
      for (const Trial& t : a.links[l].tried) {
        const auto slow = std::ranges::find(b.links[l].tried, t.cause, &Trial::cause);
        if (slow == b.links[l].tried.end()) continue;
        EXPECT_NEAR(t.error, slow->error, 0.05) << to_text(t.cause);
        ++compared;
      }
      if (reason_text(b.links[l]).empty()) continue;
      ++reasons;
      same += reason_text(a.links[l]) == reason_text(b.links[l]);
    }
  }
  EXPECT_GE(compared, 10);
  EXPECT_EQ(same, reasons);
}

// Caches of one set, whose lines all meet: one trial is a simulation as long as that of all.
TEST(Validate, Where_sets_cannot_be_divided_one_cause_is_taken_away) {
  const Machine m = test::machine({{1, 32}, {1, 256}});
  ValidateOptions options;
  options.model = ModelKind::listing3;
  options.explain = 1e-6;
  const Contraction c = test::matmul(90, 100, 80);
  const auto simulated = [&] {
    std::vector<Cause> causes;
    for (const ValidatedLink& link : validate(c, blocked(), m, options).links) {
      for (const Trial& t : link.tried) {
        if (t.cause != Cause::packing) causes.push_back(t.cause);
      }
    }
    return std::set(causes.begin(), causes.end()).size();
  };
  EXPECT_EQ(simulated(), 1u);
  options.whole_trials = true;
  EXPECT_GT(simulated(), 1u);
}

// L1 holds two lines in three that L2 has room for, so an inclusive L2 often takes away what L1
// still uses. Whatever gap that makes has one name.
TEST(Validate, What_inclusive_levels_take_away_has_one_name) {
  Machine m = test::machine({{8, 8}, {8, 12}});
  ValidateOptions options;
  options.explain = 0.01;
  const Contraction c = test::matmul(90, 100, 80);
  for (const ValidatedLink& link : validate(c, blocked(), m, options).links) {
    for (const Trial& t : link.tried) EXPECT_NE(t.cause, Cause::inclusion);
  }
  m.levels[1].inclusion.value = Inclusion::inclusive;
  int low = 0;
  for (const ValidatedLink& link : validate(c, blocked(), m, options).links) {
    if (std::abs(link.all.error()) <= options.explain) continue;
    ++low;
    ASSERT_FALSE(link.tried.empty());
    EXPECT_EQ(link.tried.front().cause, Cause::inclusion);
  }
  EXPECT_GT(low, 0);
}

TEST(Validate, Any_number_of_threads_gives_the_same) {
  std::vector<Contraction> workloads;
  for (std::int64_t n : {90, 60, 75, 96}) workloads.push_back(test::matmul(n, 100, 80));
  const auto choose = [](const Contraction&) { return blocked(); };
  std::vector<std::vector<Validated>> all;
  for (int threads : {1, 3, 9}) {
    ValidateOptions options;
    options.threads = threads;
    double last = 0;
    options.progress = [&](double share) {
      EXPECT_GE(share, last);
      last = share;
    };
    all.push_back(validate(workloads, small_machine(), choose, options));
    EXPECT_NEAR(last, 1, 1e-12);
  }
  ASSERT_EQ(all[0].size(), 4u);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(Validate, Stopped_it_returns_what_is_complete) {
  const std::vector<Contraction> workloads{test::matmul(90, 100, 80), test::matmul(60, 100, 80)};
  std::stop_source stop;
  ValidateOptions options;
  options.stop = stop.get_token();
  int chosen = 0;
  const auto choose = [&](const Contraction&) {
    if (++chosen == 2) stop.request_stop();
    return blocked();
  };
  const auto done = validate(workloads, small_machine(), choose, options);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].links, validate(workloads[0], blocked(), small_machine()).links);
}

TEST(Validate, An_error_of_one_workload_is_thrown) {
  const std::vector<Contraction> workloads{test::matmul(90, 100, 80)};
  Machine m = small_machine();
  m.levels[0].replacement.value = Replacement::random;
  EXPECT_THROW(validate(workloads, m, [](const Contraction&) { return blocked(); }),
               UnsupportedError);
}

}  // namespace
}  // namespace tcsim
