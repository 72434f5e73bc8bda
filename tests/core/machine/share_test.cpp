// What one of several cores has of a machine that they share.
#include "core/machine/share.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "tests/core/build.hpp"
#include "tests/core/machine_files.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

// acmtc-sc19, section 6: "we simply model the shared-level L3 cache as having a capacity of 1/14 of
// the per-socket L3": 35 MiB / 14 = 2.5 MiB.
TEST_F(MachineFiles, Fourteen_cores_have_a_fourteenth_of_l3_each) {
  Machine m = find_machine("e5-2680v4");
  m.core.cores = 14;
  const Machine one = view_of_one_core(m);
  EXPECT_EQ(one.levels[2].capacity.value, Bytes(2621440));
  EXPECT_EQ(one.levels[2].ways.value, 20);
  EXPECT_EQ(one.levels[1], m.levels[1]);  // private
  EXPECT_EQ(one.levels[3].bandwidth, m.levels[3].bandwidth);
  EXPECT_EQ(view_of_one_core(one), one);
  m.core.cores = 1;
  EXPECT_EQ(view_of_one_core(m), m);
  // More cores than share it: another socket's have an L3 of their own.
  m.core.cores = 28;
  EXPECT_EQ(view_of_one_core(m).levels[2].capacity.value, Bytes(2621440));
}

TEST(Share, Sets_are_rounded_and_a_fully_associative_cache_gives_up_ways) {
  Machine m = test::machine({{10, 4}, {1, 100}});
  for (Level& l : m.levels) l.shared_by = 3;
  m.core.cores = 3;
  const Machine one = view_of_one_core(m);
  EXPECT_EQ(one.levels[0].sets(), 3);
  EXPECT_EQ(one.levels[0].ways.value, 4);
  EXPECT_EQ(one.levels[1].sets(), 1);
  EXPECT_EQ(one.levels[1].ways.value, 33);

  // To the nearest, not down.
  Machine above = test::machine({{11, 4}, {1, 101}});
  for (Level& l : above.levels) l.shared_by = 3;
  above.core.cores = 3;
  const Machine more = view_of_one_core(above);
  EXPECT_EQ(more.levels[0].sets(), 4);
  EXPECT_EQ(more.levels[1].ways.value, 34);
}

BandwidthSeries measured(AccessMix mix, int element, int cores, double rate) {
  BandwidthSeries s;
  s.mix = mix;
  s.element = Bytes(element);
  s.cores = cores;
  s.repetitions = {BytesPerSecond(rate)};
  return s;
}

TEST(Share, Bandwidth_is_a_part_of_what_was_measured_on_so_many_cores) {
  Machine m = test::machine({{64, 8}});  // 1 GB/s everywhere
  m.core.cores = 4;
  m.levels[1].series = {measured(AccessMix::load_fma_store, 8, 4, 1.2e9),
                        measured(AccessMix::load_fma_store, 8, 4, 1.6e9),
                        measured(AccessMix::load_fma_store, 4, 4, 2.4e9),
                        measured(AccessMix::load_fma_store, 8, 2, 1.9e9),
                        measured(AccessMix::load, 8, 4, 3.2e9)};
  EXPECT_EQ(view_of_one_core(m).bandwidth(LevelId{1}), BytesPerSecond(0.4e9));
  EXPECT_EQ(view_of_one_core(m).bandwidth(LevelId{0}), BytesPerSecond(1e9));
  m.core.cores = 3;  // not measured
  EXPECT_EQ(view_of_one_core(m).bandwidth(LevelId{1}), BytesPerSecond(1e9));
}

// The model, the optimizer and with them everything else take the share by themselves.
TEST(Share, Predictions_are_those_of_one_core) {
  Machine m = test::machine({{16, 8}, {512, 16}});
  m.levels[1].shared_by = 8;
  m.core.cores = 8;
  const Machine one = view_of_one_core(m);
  const Contraction c = test::matmul(200, 200, 200);
  const Optimized a = optimize(c, m), b = optimize(c, one);
  EXPECT_EQ(a.schedule, b.schedule);
  EXPECT_EQ(a.prediction.traffic, b.prediction.traffic);
  EXPECT_EQ(predict(c, a.schedule, m).traffic, predict(c, a.schedule, one).traffic);
  Machine alone = m;
  alone.core.cores = 1;
  EXPECT_NE(predict(c, a.schedule, m).traffic, predict(c, a.schedule, alone).traffic);
}

}  // namespace
}  // namespace tcsim
