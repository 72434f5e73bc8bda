// Curves that are made up, with plateaus where one put them.
#include "microbench/plateau.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "microbench/levels.hpp"

namespace tcsim {
namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

// Levels out to the given ends (the last one is endless) with the given rates, sampled from 8 KiB
// to 128 MiB. Past an end the rate falls in a straight line over `slope` octaves.
struct Hierarchy {
  std::vector<std::int64_t> ends;
  std::vector<double> rates;
  double slope = 0.5;

  double rate(double bytes) const {
    for (std::size_t l = 0; l < ends.size(); ++l) {
      const double past = std::log2(bytes / static_cast<double>(ends[l]));
      if (past <= 0) return rates[l];
      if (past < slope) return rates[l] * std::pow(rates[l + 1] / rates[l], past / slope);
    }
    return rates.back();
  }
  RateCurve curve(int per_octave) const {
    RateCurve c;
    for (int i = 0; i <= 14 * per_octave; ++i) {
      const double bytes = std::exp2(13 + static_cast<double>(i) / per_octave);
      c.push_back({Bytes(std::llround(bytes)), rate(bytes)});
    }
    return c;
  }
};

const Hierarchy usual{{32 * KiB, MiB, 32 * MiB}, {220e9, 117e9, 97e9, 28e9}};
const std::vector<Bytes> usual_sizes{Bytes(32 * KiB), Bytes(MiB), Bytes(32 * MiB)};

// Within one point of the curve and the slope past the end.
void expect_near(Bytes seen, std::int64_t end, int per_octave) {
  const double octaves = std::log2(static_cast<double>(seen.value()) / static_cast<double>(end));
  EXPECT_GE(octaves, -1.0 / per_octave) << seen.value();
  EXPECT_LE(octaves, 0.5 + 1.0 / per_octave) << seen.value();
}

TEST(Plateaus, Each_level_is_one_and_its_rate_is_the_levels) {
  for (int per_octave : {2, 4}) {
    const RateCurve curve = usual.curve(per_octave);
    const auto plateaus = find_plateaus(curve);
    ASSERT_EQ(plateaus.size(), 4u) << per_octave;
    for (std::size_t l = 0; l < 4; ++l) {
      EXPECT_NEAR(plateaus[l].rate / usual.rates[l], 1, 1e-9) << l;
    }
    const auto steps = find_steps(curve);
    ASSERT_EQ(steps.size(), 3u);
    for (std::size_t l = 0; l < 3; ++l) {
      expect_near(steps[l].at, usual.ends[l], per_octave);
      EXPECT_NEAR(steps[l].fall, usual.rates[l] / usual.rates[l + 1], 1e-9);
    }
  }
}

TEST(Plateaus, Noise_of_a_few_percent_changes_nothing) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> noise(0.975, 1.025);
  for (int run = 0; run < 50; ++run) {
    RateCurve curve = usual.curve(4);
    for (RatePoint& p : curve) p.rate *= noise(random);
    const auto steps = find_steps(curve);
    ASSERT_EQ(steps.size(), 3u);
    for (std::size_t l = 0; l < 3; ++l) expect_near(steps[l].at, usual.ends[l], 4);
  }
}

TEST(Plateaus, One_bad_point_is_no_plateau) {
  RateCurve curve = usual.curve(4);
  curve[20].rate /= 3;
  curve[45].rate *= 1.3;
  EXPECT_EQ(find_plateaus(curve).size(), 4u);
}

TEST(Plateaus, A_flat_curve_is_one_plateau_and_a_slope_is_none) {
  RateCurve flat, slope;
  for (int i = 0; i < 20; ++i) {
    flat.push_back({Bytes(1 << (8 + i)), 5});
    slope.push_back({Bytes(1 << (8 + i)), std::exp2(-i)});
  }
  EXPECT_EQ(find_plateaus(flat).size(), 1u);
  EXPECT_EQ(find_plateaus(slope).size(), 0u);
  EXPECT_TRUE(find_plateaus({}).empty());
  EXPECT_TRUE(find_plateaus({{Bytes(8), 1}}).empty());
}

TEST(Plateaus, A_level_that_looks_faster_than_the_one_inside_is_no_step) {
  const Hierarchy odd{{32 * KiB, MiB}, {100, 130, 20}};
  const auto steps = find_steps(odd.curve(4));
  ASSERT_EQ(steps.size(), 1u);
  expect_near(steps[0].at, MiB, 4);
}

TEST(Matching, Steps_go_to_the_nearest_sizes_in_order) {
  using Matches = std::vector<std::optional<std::size_t>>;
  const auto steps = [](std::vector<std::int64_t> at) {
    std::vector<RateStep> s;
    for (std::int64_t a : at) s.push_back({Bytes(a), 2});
    return s;
  };
  EXPECT_EQ(match_steps(usual_sizes, steps({35 * KiB, MiB, 40 * MiB})), (Matches{0, 1, 2}));
  // An extra step, and one that is missing.
  EXPECT_EQ(match_steps(usual_sizes, steps({35 * KiB, MiB, 7 * MiB, 40 * MiB})),
            (Matches{0, 1, 3}));
  EXPECT_EQ(match_steps(usual_sizes, steps({35 * KiB, 20 * MiB})), (Matches{0, {}, 1}));
  // More than a factor of four away is another thing.
  EXPECT_EQ(match_steps(usual_sizes, steps({5 * MiB})), (Matches{{}, {}, {}}));
  EXPECT_EQ(match_steps(usual_sizes, {}), (Matches{{}, {}, {}}));
  EXPECT_EQ(match_steps({}, steps({MiB})), Matches{});
}

std::vector<CacheGeometry> caches(std::vector<std::int64_t> sizes) {
  std::vector<CacheGeometry> all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    all.push_back({static_cast<int>(i) + 1, Bytes(sizes[i]), 8, Bytes(64), 1, {}, ""});
  }
  return all;
}

// Chases see larger falls than streams.
Curves curves_of(const Hierarchy& streams) {
  const Hierarchy chase{streams.ends, {250e6, 70e6, 20e6, 2e6}};
  return {streams.curve(4), streams.curve(4), chase.curve(4)};
}

TEST(Levels, Reported_sizes_that_the_curves_confirm_need_no_remark) {
  const LevelSpans levels = find_levels(caches({32 * KiB, MiB, 32 * MiB}), curves_of(usual));
  EXPECT_EQ(levels.remarks, std::vector<std::string>());
  ASSERT_EQ(levels.spans.size(), 4u);
  EXPECT_EQ(levels.spans[0].from, Bytes(8 * KiB));
  EXPECT_EQ(levels.spans[3].to, Bytes(128 * MiB));
  const std::int64_t inside[] = {16 * KiB, 256 * KiB, 8 * MiB, 100 * MiB};
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_TRUE(levels.spans[l].holds(Bytes(inside[l]))) << l;
    EXPECT_EQ(levels.of(Bytes(inside[l])), l);
    for (std::size_t other = 0; other < 4; ++other) {
      EXPECT_EQ(levels.spans[other].holds(Bytes(inside[l])), other == l);
    }
  }
}

TEST(Levels, A_last_cache_that_is_smaller_than_reported_is_seen_and_said) {
  const Hierarchy small{{32 * KiB, MiB, 14 * MiB}, {220e9, 117e9, 97e9, 28e9}};
  const LevelSpans levels = find_levels(caches({32 * KiB, MiB, 32 * MiB}), curves_of(small));
  ASSERT_EQ(levels.remarks.size(), 2u) << levels.remarks[0];
  EXPECT_NE(levels.remarks[0].find("L3: the plateau of streams ends at 1"), std::string::npos)
      << levels.remarks[0];
  EXPECT_NE(levels.remarks[0].find("reported 32MiB"), std::string::npos);
  EXPECT_NE(levels.remarks[1].find("L3: single loads find their lines up to"), std::string::npos);
  EXPECT_FALSE(levels.spans[2].holds(Bytes(20 * MiB)));
  EXPECT_TRUE(levels.spans[3].holds(Bytes(40 * MiB)));
}

TEST(Levels, A_last_cache_that_is_larger_than_reported_is_seen_and_said) {
  const LevelSpans levels = find_levels(caches({32 * KiB, MiB, 12 * MiB}), curves_of(usual));
  ASSERT_GE(levels.remarks.size(), 1u);
  EXPECT_NE(levels.remarks[0].find("L3: the plateau of streams ends at 3"), std::string::npos)
      << levels.remarks[0];
  EXPECT_TRUE(levels.spans[2].holds(Bytes(20 * MiB)));
}

TEST(Levels, A_step_where_no_cache_ends_is_said) {
  // A second and a third level, of which only the third is reported.
  const LevelSpans levels = find_levels(caches({32 * KiB, 32 * MiB}), curves_of(usual));
  ASSERT_EQ(levels.remarks.size(), 1u);
  EXPECT_NE(levels.remarks[0].find("single loads are 3.5 times slower from 1"), std::string::npos)
      << levels.remarks[0];
}

TEST(Levels, A_cache_that_no_curve_shows_keeps_its_reported_size) {
  const Hierarchy two{{32 * KiB, 32 * MiB}, {220e9, 117e9, 28e9}};
  const Hierarchy chase{{32 * KiB, 32 * MiB}, {250e6, 70e6, 2e6}};
  const LevelSpans levels =
      find_levels(caches({32 * KiB, MiB, 32 * MiB}), {two.curve(4), two.curve(4), chase.curve(4)});
  ASSERT_EQ(levels.remarks.size(), 1u);
  EXPECT_NE(levels.remarks[0].find("L2: no curve has a step near its reported 1MiB"),
            std::string::npos);
  EXPECT_TRUE(levels.spans[1].holds(Bytes(200 * KiB)));
  EXPECT_FALSE(levels.spans[1].holds(Bytes(MiB)));
}

TEST(Levels, A_figure_rests_on_the_longest_plateau_in_its_span) {
  RateCurve curve;
  for (int i = 0; i < 12; ++i) curve.push_back({Bytes(1 << (10 + i)), i < 3 ? 100.0 : 50.0});
  curve[11].rate = 10;
  using Points = std::vector<std::size_t>;
  EXPECT_EQ(points_of(curve, {Bytes(2048), Bytes(1 << 20)}), (Points{3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(points_of(curve, {Bytes(1024), Bytes(4096)}), (Points{0, 1, 2}));
  // No point in the span: the nearest.
  EXPECT_EQ(points_of(curve, {Bytes(5000), Bytes(5100)}), (Points{2}));
}

}  // namespace
}  // namespace tcsim
