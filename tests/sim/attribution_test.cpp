#include "sim/attribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>
#include <random>

#include "core/error.hpp"
#include "sim/sample.hpp"
#include "sim/sampled_classes.hpp"
#include "tests/core/build.hpp"
#include "tests/seed.hpp"
#include "tests/sim/caches.hpp"

namespace tcsim {
namespace {

using test::caches;

// A list of lines, the latest used first: the distance is the place in it.
TEST(Reuse_distance, Equals_the_place_in_a_list) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    sim::ReuseDistance fast;
    std::list<std::uint64_t> slow;
    for (std::uint64_t i = 0; i < 6000; ++i) {  // past the first compactions
      const std::uint64_t line = random() % (seed % 2 ? 30 : 2000);
      const auto use = fast.use(line, i);
      const auto found = std::find(slow.begin(), slow.end(), line);
      ASSERT_EQ(use.distance.has_value(), found != slow.end());
      if (use.distance) {
        ASSERT_EQ(*use.distance, std::distance(slow.begin(), found));
      }
      slow.remove(line);
      slow.push_front(line);
    }
  }
}

TEST(Reuse_distance, Gives_back_the_mark_of_the_last_use) {
  sim::ReuseDistance uses;
  uses.use(7, 100);
  uses.use(8, 200);
  EXPECT_EQ(uses.use(7, 300).last_mark, 100u);
  EXPECT_EQ(uses.use(7, 400).last_mark, 300u);
}

// 64 x 1 x 32, a row of A at a time, column-major: A is 32 columns of 8 lines, B 4 lines, C 8. Rows
// of a kernel each; loop m carries what is used again. 37 lines a row in a cache of 16: all that is
// not the first use of a line is capacity, none conflict.
//   A: a miss each, 64 * 32, of which 256 first uses; B: 4 lines a row, 4 first uses; C: one a row,
//   8 first uses.
TEST(Attribution, Blames_capacity_and_the_loop_that_carries_the_reuse) {
  const Contraction c = test::matmul(64, 1, 32, Layout::column_major);
  const Plan plan(c, test::schedule("groups m=i n=j k=k for m by 1 { kernel 1x1 }"));
  const Attribution a = attribute(plan, caches({{1, 16}}));
  const auto& compute = a.levels[0].misses[Phase::compute];
  EXPECT_EQ(compute[ArrayId::A], (MissCauses{Lines(256), Lines(64 * 32 - 256), Lines(0)}));
  EXPECT_EQ(compute[ArrayId::B], (MissCauses{Lines(4), Lines(64 * 4 - 4), Lines(0)}));
  EXPECT_EQ(compute[ArrayId::C], (MissCauses{Lines(8), Lines(64 - 8), Lines(0)}));
  EXPECT_EQ(a.levels[0].by_step[0], Lines(64 * 37 - 268));
  EXPECT_EQ(a.levels[0].by_step[1], Lines(0));
  EXPECT_EQ(a.levels[0].first_uses, Lines(268));
}

// The same rows in 64 lines of 8 sets: fully associative they would fit, so what misses again does
// for its set's sake.
TEST(Attribution, Blames_conflicts_where_a_fully_associative_cache_would_hit) {
  const Contraction c = test::matmul(64, 1, 32, Layout::column_major);
  const Plan plan(c, test::schedule("groups m=i n=j k=k for m by 1 { kernel 1x1 }"));
  const Attribution a = attribute(plan, caches({{8, 8}}));
  const MissCauses total = a.levels[0].total();
  EXPECT_EQ(total.compulsory, Lines(268));
  EXPECT_EQ(total.capacity, Lines(0));
  EXPECT_EQ(total.total(), a.simulation.levels[0].misses);
  EXPECT_GT(total.conflict, Lines(0));
}

// A cycle of 37 lines misses in a cache of 36 for its capacity, and no more in one of 37.
TEST(Attribution, One_line_too_many_is_capacity) {
  const Contraction c = test::matmul(64, 1, 32, Layout::column_major);
  const Plan plan(c, test::schedule("groups m=i n=j k=k for m by 1 { kernel 1x1 }"));
  const MissCauses short_of_one = attribute(plan, caches({{1, 36}})).levels[0].total();
  EXPECT_EQ(short_of_one.conflict, Lines(0));
  EXPECT_GT(short_of_one.capacity, Lines(0));
  EXPECT_EQ(attribute(plan, caches({{1, 37}})).levels[0].total(),
            (MissCauses{Lines(268), Lines(0), Lines(0)}));
}

// The 36 distances of a row's lines from their last use: a row apart, 36 other lines; and the
// elements of B's lines within a row, one line of A between two of them, and the line itself.
TEST(Attribution, Histogram_holds_every_request) {
  const Contraction c = test::matmul(64, 1, 32, Layout::column_major);
  const Plan plan(c, test::schedule("groups m=i n=j k=k for m by 1 { kernel 1x1 }"));
  const Attribution a = attribute(plan, caches({{1, 64}}));
  const auto& d = a.levels[0].reuse_distances;
  // B's line again after one line of A: distance 1, 28 times a row.
  EXPECT_EQ(d[1], Lines(64 * 28));
  Lines all = a.levels[0].first_uses;
  for (Lines n : d) all += n;
  EXPECT_EQ(all, a.simulation.touches);
}

TEST(Attribution, Simulates_the_same_and_accounts_for_every_miss) {
  const Contraction c = test::matmul(48, 40, 56);
  const Plan plan(c, test::schedule("groups m=j n=i k=k for n by 24 { for k by 28 { pack A in L1 { "
                                    "pack B in L1 { for n by 6 { for m by 8 { kernel 8x6 } } } } "
                                    "} }"));
  const auto config = caches({{8, 4}, {16, 8}});
  const Attribution a = attribute(plan, config);
  EXPECT_EQ(a.simulation, simulate(plan, config));
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(a.levels[l].total().total(), a.simulation.levels[l].misses);
    Lines carried;
    for (Lines n : a.levels[l].by_step) carried += n;
    EXPECT_EQ(carried + a.levels[l].total().compulsory, a.simulation.levels[l].misses);
  }
}

// All classes of sets, each simulated alone, add up to the whole exactly.
TEST(Sample, Of_all_classes_is_exact) {
  const Contraction c = test::matmul(48, 40, 56);
  const Plan plan(c, test::schedule("groups m=j n=i k=k for n by 24 { for k by 28 { pack A in L1 { "
                                    "pack B in L1 { for n by 6 { for m by 8 { kernel 8x6 } } } } "
                                    "} }"));
  auto config = caches({{8, 3}, {24, 5}});
  config.levels[0].replacement = Replacement::tree_plru;
  config.levels[1].inclusion = Inclusion::inclusive;
  config.levels[1].line = Bytes(128);
  EXPECT_EQ(class_count(config), 4);
  const Simulation whole = simulate(plan, config);
  const SampledSimulation sampled = sample(plan, config, 4);
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(sampled.levels[l].misses.value, static_cast<double>(whole.levels[l].misses.value()));
    EXPECT_EQ(sampled.levels[l].write_backs.value,
              static_cast<double>(whole.levels[l].write_backs.value()));
    EXPECT_EQ(sampled.levels[l].misses.error, 0);
  }
}

// Misses of each class, of a product of matrices through L1 and L2.
std::vector<std::vector<double>> misses_by_class(Replacement policy, std::uint64_t size) {
  sim::SystemConfig config = caches({{64, 4}, {512, 4}});
  for (sim::LevelConfig& l : config.levels) l.replacement = policy;
  sim::SampledClasses classes(config, class_count(config));
  const auto at = [&](std::uint64_t matrix, std::uint64_t row, std::uint64_t column) {
    return (matrix << 24) + 8 * (row * size + column);
  };
  for (std::uint64_t i = 0; i < size; ++i) {
    for (std::uint64_t j = 0; j < size; ++j) {
      for (std::uint64_t k = 0; k < size; ++k) {
        classes.access(0, at(0, i, k), 8, false);
        classes.access(0, at(1, k, j), 8, false);
      }
      classes.access(0, at(2, i, j), 8, true);
    }
  }
  return {classes.misses(0), classes.misses(1)};
}

// The truth lies in 95 of 100 intervals. With a chance of 0.88 only, 300 draws hold it fewer than
// 225 times less than once in 10^9 runs (binomial); an interval that holds it 72 of 100 times, as
// one of four classes does, is found out.
TEST(Sample, Interval_holds_the_truth_as_often_as_it_says) {
  std::mt19937_64 random(test::new_seed());
  for (const Replacement policy : {Replacement::fifo, Replacement::lru, Replacement::tree_plru}) {
    for (const std::uint64_t size : {64, 77, 100}) {
      for (const std::vector<double>& counts : misses_by_class(policy, size)) {
        SCOPED_TRACE(testing::Message() << to_text(policy) << " " << size);
        const double truth = std::accumulate(counts.begin(), counts.end(), 0.0);
        for (const std::int64_t classes : {12, 24}) {
          int held = 0;
          for (int draw = 0; draw < 300; ++draw) {
            std::vector<double> drawn;
            std::ranges::sample(counts, std::back_inserter(drawn), classes, random);
            const Estimate e = estimate_total(drawn, static_cast<double>(counts.size()));
            held += std::abs(e.value - truth) <= e.error;
          }
          EXPECT_GE(held, 225) << classes;
        }
      }
    }
  }
}

// By hand: 2, 2, 5 of 6 classes. The mean is 3, the squares around it 1 + 1 + 4, and 9 for the
// class that was not drawn; t with 2 degrees of freedom is 4.3027.
TEST(Sample, Interval_counts_a_class_that_was_not_drawn) {
  const Estimate e = estimate_total({2, 2, 5}, 6);
  EXPECT_DOUBLE_EQ(e.value, 18);
  EXPECT_NEAR(e.error, 6 * 4.302653 * std::sqrt(15.0 / 2 / 3 * 0.5), 1e-4);
  EXPECT_GT(estimate_total({7, 7, 7}, 6).error, 0);
  EXPECT_EQ(estimate_total({7, 7, 7}, 3).error, 0);
}

TEST(Sample, Refuses_what_cannot_be_divided) {
  const Plan plan(test::matmul(8, 8, 8), test::schedule("groups m=j n=i k=k kernel 8x8"));
  EXPECT_THROW(sample(plan, caches({{7, 2}}), 2), UnsupportedError);
  EXPECT_THROW(sample(plan, caches({{8, 2}}), 7), UsageError);
  EXPECT_THROW(sample(plan, caches({{64, 2}}), 11), UsageError);
  EXPECT_THROW(sample(plan, caches({{8, 2}}), 9), UsageError);
  auto config = caches({{8, 2}});
  config.levels[0].prefetch = Prefetch::next_line;
  EXPECT_THROW(sample(plan, config, 8), UnsupportedError);
  config = caches({{8, 2}});
  config.levels[0].victim_lines = 1;
  EXPECT_THROW(sample(plan, config, 8), UnsupportedError);
  config = caches({{8, 2}});
  config.levels[0].index = parse_set_index("hashed");
  EXPECT_THROW(sample(plan, config, 8), UnsupportedError);
  config.levels[0].index = parse_set_index("0x40000");  // 4 sets in a slice
  EXPECT_THROW(sample(plan, config, 8), UsageError);
  EXPECT_NO_THROW(sample(plan, config, 4));
}

}  // namespace
}  // namespace tcsim
