#include "core/machine/spread.hpp"

#include <gtest/gtest.h>

#include "core/explore/knob.hpp"
#include "core/machine/override.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

BandwidthSeries series(std::int64_t working_set, const std::vector<double>& rates, int cores = 1) {
  BandwidthSeries s;
  s.instruction_set = "AVX2";
  s.cores = cores;
  s.working_set = Bytes(working_set);
  for (double r : rates) s.repetitions.emplace_back(r);
  return s;
}

PeakSeries peak(int element, const std::vector<double>& rates) {
  PeakSeries p{"AVX2", Bytes(element), 1, {}};
  for (double r : rates) p.repetitions.emplace_back(r);
  return p;
}

// L1 and memory; memory at 10 bytes per second.
Machine slow_memory() {
  Machine m = test::machine({{64, 8}});
  m.levels[1].bandwidth.value = {10, Bandwidth::Unit::bytes_per_second};
  return m;
}

const TimeFactors point{1};

TEST(Spread, Is_none_where_nothing_was_measured) {
  const RateSpread s = rate_spread(slow_memory(), Bytes(8));
  EXPECT_FALSE(s.known());
  EXPECT_EQ(s.links, (std::vector<TimeFactors>{point, point}));
  EXPECT_EQ(s.compute, point);
}

TEST(Spread, Is_none_of_one_repetition) {
  Machine m = slow_memory();
  m.levels[1].series = {series(4096, {10})};
  m.core.peaks = {peak(8, {8e9})};
  EXPECT_FALSE(rate_spread(m, Bytes(8)).known());
}

TEST(Spread, Is_the_median_over_each_repetition) {
  Machine m = slow_memory();
  m.levels[1].series = {series(4096, {12.5, 10, 8})};
  const RateSpread s = rate_spread(m, Bytes(8));
  EXPECT_TRUE(s.known());
  EXPECT_FALSE(s.known(0));
  EXPECT_TRUE(s.known(1));
  EXPECT_EQ(s.links[1], (TimeFactors{0.8, 1, 1.25}));
}

// The plateau's figure is the median of 9.5, 10, 10.5 and 9.8, 10, 11 together. On the slopes lie
// 20 and 5, which together with them would have the same median.
TEST(Spread, Is_that_of_the_working_sets_whose_repetitions_make_the_figure) {
  Machine m = slow_memory();
  m.levels[1].series = {series(1024, {20, 20, 20}), series(4096, {9.8, 10, 11}),
                        series(2048, {9.5, 10, 10.5}), series(8192, {5, 5, 5})};
  const TimeFactors both{10 / 11.0, 10 / 10.5, 1, 1, 10 / 9.8, 10 / 9.5};
  EXPECT_EQ(rate_spread(m, Bytes(8)).links[1], both);
}

TEST(Spread, Leaves_out_other_mixes_types_and_numbers_of_cores) {
  Machine m = slow_memory();
  m.levels[1].series = {series(4096, {9, 10, 11}), series(4096, {9, 10, 12}, 4),
                        series(4096, {9, 10, 13})};
  m.levels[1].series[2].mix = AccessMix::triad;
  EXPECT_EQ(rate_spread(m, Bytes(8)).links[1], (TimeFactors{10 / 11.0, 1, 10 / 9.0}));
}

// probe lowers a level's figure to that of the level inside it.
TEST(Spread, Of_a_figure_that_no_series_has_is_that_of_the_nearest_median) {
  Machine m = slow_memory();
  m.levels[1].series = {series(2048, {15, 16, 17}), series(4096, {12, 13, 14})};
  EXPECT_EQ(rate_spread(m, Bytes(8)).links[1], (TimeFactors{13 / 14.0, 1, 13 / 12.0}));
}

TEST(Spread, Of_a_level_on_the_cores_clock_is_that_of_bytes_per_cycle) {
  Machine m = slow_memory();
  m.levels[0].bandwidth.value = {10, Bandwidth::Unit::bytes_per_cycle};
  m.levels[0].series = {series(2048, {18, 20, 22}), series(4096, {9, 10, 11})};
  m.levels[0].series[0].frequency = Hertz(2);
  m.levels[0].series[1].frequency = Hertz(1);
  const TimeFactors f{10 / 11.0, 10 / 11.0, 1, 1, 10 / 9.0, 10 / 9.0};
  EXPECT_EQ(rate_spread(m, Bytes(8)).links[0], f);
}

// The one that predictions for so many cores take.
TEST(Spread, Of_several_cores_is_that_of_their_own_measurement) {
  Machine m = slow_memory();
  m.levels[1].series = {series(4096, {9, 10, 11}), series(4096, {16, 20, 25}, 4)};
  m.core.cores = 4;
  EXPECT_EQ(rate_spread(m, Bytes(8)).links[1], (TimeFactors{0.8, 1, 1.25}));
}

TEST(Spread, Of_computing_is_that_of_the_peak_of_its_type) {
  Machine m = slow_memory();
  m.core.peaks = {peak(4, {32, 20, 16}), peak(8, {5, 8, 10}), peak(8, {1, 2, 3})};
  EXPECT_EQ(rate_spread(m, Bytes(8)).compute, (TimeFactors{0.8, 1, 1.6}));
  EXPECT_EQ(rate_spread(m, Bytes(4)).compute, (TimeFactors{0.625, 1, 1.25}));
}

TEST(Spread, Stays_where_a_knob_scales_and_goes_where_a_figure_is_set) {
  Machine m = slow_memory();
  m.levels[1].series = {series(4096, {8, 10, 12.5})};
  m.core.peaks = {peak(8, {5, 8, 10})};
  const auto memory = [](const Machine& machine) {
    return rate_spread(machine, Bytes(8)).links[1];
  };
  const auto compute = [](const Machine& machine) {
    return rate_spread(machine, Bytes(8)).compute;
  };
  const auto set = [&](const char* what) { return override_knob(m, what).machine; };
  EXPECT_EQ(memory(set("memory.bandwidth=2x")), memory(m));
  EXPECT_EQ(memory(set("memory.bandwidth=20B/s")), point);
  EXPECT_EQ(memory(with_knob(m, find_knob(m, "memory.bandwidth"), 20)), memory(m));
  EXPECT_EQ(memory(set("L1.capacity=2x")), memory(m));
  EXPECT_EQ(compute(set("core.fma_per_cycle=2x")), compute(m));
  EXPECT_EQ(compute(set("core.fma_per_cycle=2")), point);
  EXPECT_EQ(compute(set("core.fma_latency=5")), compute(m));
}

TEST(Spread, Of_a_scaled_figure_scales_the_measurements_too) {
  Machine m = slow_memory();
  m.levels[1].series = {series(4096, {8, 10, 12.5}), series(4096, {30, 40, 50}, 4)};
  m = override_knob(m, "memory.bandwidth=2x").machine;
  EXPECT_EQ(m.levels[1].series[0].median(), BytesPerSecond(20));
  EXPECT_EQ(m.levels[1].series[1].median(), BytesPerSecond(80));
}

}  // namespace
}  // namespace tcsim
