// What a measurement becomes: a machine with the right figures, and remarks where it should not be
// believed.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/machine/toml.hpp"
#include "microbench/probe.hpp"
#include "tests/microbench/made_up.hpp"

namespace tcsim {
namespace {

Probed assembled(const Measured& measured) {
  return assemble(made_up_topology(), "made up", measured);
}

bool mentions(const std::vector<std::string>& remarks, const std::string& part) {
  return std::any_of(remarks.begin(), remarks.end(),
                     [&](const std::string& r) { return r.find(part) != std::string::npos; });
}

TEST(Assemble, Figures_are_the_medians_of_the_plateaus) {
  const Probed p = assembled(made_up_measurement());
  const Machine& m = p.machine;
  check(m, "made up");
  ASSERT_EQ(m.levels.size(), 3u);
  // A core's own cache in bytes per cycle, 80 GB/s at 2 GHz; a shared one per second.
  EXPECT_EQ(m.levels[0].bandwidth.value, (Bandwidth{40, Bandwidth::Unit::bytes_per_cycle}));
  EXPECT_EQ(m.levels[1].bandwidth.value, (Bandwidth{40e9, Bandwidth::Unit::bytes_per_second}));
  EXPECT_EQ(m.levels[2].bandwidth.value, (Bandwidth{10e9, Bandwidth::Unit::bytes_per_second}));
  // 2, 7 and 80 ns at 2 GHz.
  EXPECT_EQ(m.levels[0].latency->value, Cycles(4));
  EXPECT_EQ(m.levels[1].latency->value, Cycles(14));
  EXPECT_EQ(m.levels[2].latency->value, Cycles(160));
  EXPECT_EQ(m.core.fma_per_cycle.value, 2);
  EXPECT_EQ(m.core.fma_latency.value, Cycles(4));
  EXPECT_EQ(m.peak(Bytes(8)), FlopsPerSecond(32e9));
  EXPECT_EQ(m.levels[2].shared_by, 2);
  EXPECT_EQ(p.figures[1].from, Bytes(65536));
  EXPECT_EQ(p.figures[1].to, Bytes(524288));
  EXPECT_EQ(parse_machine(to_toml(m), "made up"), m);
}

TEST(Assemble, Loads_are_a_share_of_the_bandwidth_of_at_least_half) {
  Measured measured = made_up_measurement();
  const double rates[] = {100e9, 30e9, 4e9};
  for (std::size_t l = 0; l < 3; ++l) {
    for (BandwidthSeries& s : measured.streams[l]) {
      if (s.mix == AccessMix::load) s.repetitions = {BytesPerSecond(rates[l])};
    }
  }
  const Machine m = assembled(measured).machine;
  EXPECT_EQ(m.levels[0].loads.value, 1.25);
  EXPECT_EQ(m.levels[1].loads.value, 0.75);
  EXPECT_EQ(m.levels[2].loads.value, 0.5);
  EXPECT_EQ(m.levels[0].loads.origin, Origin::measured);
}

TEST(Assemble, A_quiet_machine_has_the_remarks_of_its_topology_only) {
  const Probed p = assembled(made_up_measurement());
  EXPECT_EQ(p.machine.remarks, (std::vector<std::string>{"a remark of the topology"}));
  for (const LevelFigure& f : p.figures) EXPECT_FALSE(f.unstable);
}

TEST(Assemble, A_level_whose_repetitions_spread_is_unstable_and_named) {
  Measured m = made_up_measurement();
  for (BandwidthSeries& s : m.streams[1]) {
    if (s.mix != AccessMix::load_fma_store) continue;
    s.repetitions = {BytesPerSecond(36e9), BytesPerSecond(36e9), BytesPerSecond(40e9),
                     BytesPerSecond(44e9), BytesPerSecond(44e9)};
  }
  const Probed p = assembled(m);
  EXPECT_FALSE(p.figures[0].unstable);
  EXPECT_TRUE(p.figures[1].unstable);
  EXPECT_DOUBLE_EQ(p.figures[1].spread, 0.2);  // (44 - 36) / 40
  EXPECT_TRUE(mentions(p.machine.remarks, "L2 is unstable"));
  EXPECT_NE(p.machine.levels[1].bandwidth.source.find("unstable"), std::string::npos);
}

TEST(Assemble, A_level_most_of_whose_series_drifted_is_unstable) {
  Measured m = made_up_measurement();
  for (BandwidthSeries& s : m.streams[2]) s.unstable = true;
  const Probed p = assembled(m);
  EXPECT_TRUE(p.figures[2].unstable);
  EXPECT_FALSE(p.figures[1].unstable);
}

TEST(Assemble, An_unstable_latency_is_named) {
  Measured m = made_up_measurement();
  m.latencies[2].unstable = true;
  const Probed p = assembled(m);
  EXPECT_TRUE(mentions(p.machine.remarks, "memory's latency is unstable"));
  EXPECT_FALSE(p.figures[2].unstable);
}

TEST(Assemble, Series_of_one_kind_make_one_figure_and_the_slope_is_left_out) {
  Measured m = made_up_measurement();
  // On L1's slope: outside of its plateau.
  for (BandwidthSeries& s : m.streams[0]) {
    if (s.working_set == Bytes(32768)) s.repetitions = {BytesPerSecond(1e9)};
  }
  const Probed p = assembled(m);
  ASSERT_EQ(p.figures[0].mixes.size(), 2u);
  EXPECT_EQ(p.figures[0].mixes[0].mix, AccessMix::load_fma_store);
  EXPECT_EQ(p.figures[0].mixes[0].median, BytesPerSecond(80e9));
  EXPECT_EQ(p.figures[0].mixes[0].bytes_per_cycle, 40);
  EXPECT_EQ(p.figures[0].mixes[0].spread, 0);
  EXPECT_EQ(p.figures[0].mixes[1].median, BytesPerSecond(40e9));
}

TEST(Assemble, Small_pages_are_remarked_on) {
  Measured m = made_up_measurement();
  m.on_huge_pages = Bytes(0);
  const Probed p = assembled(m);
  EXPECT_TRUE(mentions(p.machine.remarks, "not all memory is on huge pages"));
  EXPECT_EQ(p.machine.method->pages, "huge pages asked for, 0 of 8 MiB on them");
}

TEST(LowerToInner, An_outer_level_is_no_faster_than_the_one_inside_and_says_so) {
  std::vector<Level> levels(3);
  levels[0].name = "L1";
  levels[0].bandwidth = {{10, Bandwidth::Unit::bytes_per_cycle}, Origin::measured, "a"};
  levels[1].name = "L2";
  levels[1].bandwidth = {{21e9, Bandwidth::Unit::bytes_per_second}, Origin::measured, "b"};
  levels[2].name = "memory";
  levels[2].bandwidth = {{5e9, Bandwidth::Unit::bytes_per_second}, Origin::measured, "c"};
  lower_to_inner(levels, Hertz(2e9));  // L1: 10 B/cycle x 2 GHz = 20 GB/s
  EXPECT_EQ(levels[1].bandwidth, (Figure<Bandwidth>{{10, Bandwidth::Unit::bytes_per_cycle},
                                                    Origin::measured,
                                                    "b; lowered from 21GB/s to that of L1"}));
  EXPECT_EQ(levels[0].bandwidth.source, "a");
  EXPECT_EQ(levels[2].bandwidth.source, "c");
}

TEST(Plan, The_curve_goes_from_a_quarter_of_the_first_cache_to_four_times_the_last) {
  const auto caches = made_up_topology().topology.caches;
  const std::vector<Bytes> sets = curve_sets(caches, 1);
  // 8 KiB to 4 MiB, one an octave.
  ASSERT_EQ(sets.size(), 10u);
  for (std::size_t i = 0; i < sets.size(); ++i) EXPECT_EQ(sets[i], Bytes(8192 << i));
  EXPECT_EQ(curve_sets(caches, 4).size(), 37u);
  for (Bytes b : curve_sets(caches, 4)) EXPECT_EQ(b.value() % loop_step, 0);
}

TEST(Plan, Cores_share_the_working_set_of_a_cache_that_they_share) {
  const auto caches = made_up_topology().topology.caches;
  // A cache of its own: all of it.
  EXPECT_EQ(share_of(Bytes(16384), 0, 2, caches), Bytes(16384));
  // Two cores in the one L2 that they share: half each.
  EXPECT_EQ(share_of(Bytes(512 << 10), 1, 2, caches), Bytes(256 << 10));
  // But not so little that it fits their own L1: twice that.
  EXPECT_EQ(share_of(Bytes(96 << 10), 1, 2, caches), Bytes(64 << 10));
  // Four cores use two L2s: memory's working set doubles, each has half of one.
  EXPECT_EQ(share_of(Bytes(8 << 20), 2, 4, caches), Bytes(4 << 20));
  EXPECT_EQ(share_of(Bytes(8 << 20), 2, 1, caches), Bytes(8 << 20));
}

TEST(Plan, Core_counts_are_all_up_to_sixteen_and_then_two_an_octave) {
  EXPECT_EQ(core_counts(1), (std::vector<int>{1}));
  EXPECT_EQ(core_counts(3), (std::vector<int>{1, 2, 3}));
  const std::vector<int> many = core_counts(56);
  EXPECT_EQ(many.size(), 16u + 4u);
  EXPECT_EQ((std::vector<int>(many.end() - 5, many.end())), (std::vector<int>{16, 24, 32, 48, 56}));
}

}  // namespace
}  // namespace tcsim
