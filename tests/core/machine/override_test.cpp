// Knobs of --set and [set].
#include "core/machine/override.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "tests/core/machine_files.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

TEST_F(MachineFiles, Knobs_set_figures_and_make_them_hypothetical) {
  const Machine m = find_machine("e5-2680v4");
  const auto set = [&](const char* knob) { return override_knob(m, knob).machine; };
  EXPECT_EQ(set("L3.capacity=70MiB").levels[2].capacity,
            (Figure<Bytes>{Bytes(73400320), Origin::hypothetical, ""}));
  EXPECT_EQ(set("L3.capacity = 2x").levels[2].capacity.value, Bytes(73400320));
  EXPECT_EQ(set("L1.bandwidth=100GB/s").levels[0].bandwidth.value,
            (Bandwidth{100e9, Bandwidth::Unit::bytes_per_second}));
  EXPECT_EQ(set("L1.bandwidth=0.5x").levels[0].bandwidth.value,
            (Bandwidth{12.64, Bandwidth::Unit::bytes_per_cycle}));
  EXPECT_EQ(set("L3.shared_by=1").levels[2].shared_by, 1);
  EXPECT_EQ(set("L2.latency=12").levels[1].latency,
            (Figure<Cycles>{Cycles(12), Origin::hypothetical, ""}));
  EXPECT_EQ(set("memory.capacity=64GiB").levels[3].capacity.value, Bytes(std::int64_t{64} << 30));
  EXPECT_EQ(set("core.frequency=3GHz").core.frequency.value, Hertz(3e9));
  EXPECT_EQ(set("core.vector_bits=2x").core.vector_bits.value, 512);
  EXPECT_EQ(set("core.vector_registers=32").core.vector_registers.value, 32);
  EXPECT_EQ(set("core.fma_per_cycle=1.5").core.fma_per_cycle.value, 1.5);
  EXPECT_EQ(set("core.fma_latency=4").core.fma_latency.value, Cycles(4));
  EXPECT_EQ(set("core.cores=14").core.cores, 14);
  EXPECT_EQ(set("L3.energy=25pJ/B").levels[2].energy,
            (Figure<JoulesPerByte>{JoulesPerByte(25e-12), Origin::hypothetical, ""}));
  EXPECT_EQ(error_of<UsageError>([&] { set("L3.energy=2x"); }),
            "L3.energy: L3 has no energy to scale; set an energy such as 25pJ/B");
  // New ways keep the capacity (and its origin) where that is possible.
  const Level l3 = set("L3.ways=16").levels[2];
  EXPECT_EQ(l3.ways.value, 16);
  EXPECT_EQ(l3.capacity, m.levels[2].capacity);
  EXPECT_EQ(set("L2.line=128B").levels[1].sets(), 256);  // 256 KiB / (8 x 128)
}

TEST_F(MachineFiles, Caches_are_set_together) {
  const Machine m = find_machine("e5-2680v4");
  const Machine wide = override_knob(m, "caches.line=128B").machine;
  for (int l = 0; l < 3; ++l) EXPECT_EQ(wide.level(LevelId{l}).line.value, Bytes(128));
  EXPECT_EQ(wide.level(LevelId{3}), m.level(LevelId{3}));
  // 3.75 sets of 8 ways and 1.5 sets of 20 ways
  EXPECT_EQ(override_knob(m, "caches.capacity=1920").note,
            "L1.capacity: 1920B is not a whole number of 8-way sets of 64B lines; 2KiB is used; "
            "L2.capacity: 1920B is not a whole number of 8-way sets of 64B lines; 2KiB is used; "
            "L3.capacity: 1920B is not a whole number of 20-way sets of 64B lines; 2560B is used");
}

TEST_F(MachineFiles, No_factor_makes_a_victim_cache) {
  const Machine m = find_machine("i7-6700k");
  EXPECT_EQ(override_knob(m, "L3.victim_lines=2x").machine.level(LevelId{2}).victim_lines, 0);
  EXPECT_EQ(override_knob(m, "L3.victim_lines=2").machine.level(LevelId{2}).victim_lines, 2);
}

TEST_F(MachineFiles, A_fully_associative_cache_grows_by_ways) {
  Machine m = valid();
  m.levels[0].ways.value = 512;  // 32 KiB in one set
  const Level grown = override_knob(m, "L1.capacity=1.5x").machine.levels[0];
  EXPECT_EQ(grown.ways.value, 768);
  EXPECT_EQ(grown.sets(), 1);
  const Overridden odd = override_knob(m, "L1.capacity=1000");
  EXPECT_EQ(odd.machine.levels[0].ways.value, 15);
  EXPECT_EQ(odd.machine.levels[0].capacity.value, Bytes(960));
}

TEST_F(MachineFiles, Knobs_choose_how_a_cache_works) {
  const Machine m = find_machine("e5-2680v4");
  const auto set = [&](const char* knob) { return override_knob(m, knob).machine.levels[1]; };
  for (Replacement r : all_replacements) {
    EXPECT_EQ(set((std::string("L2.replacement=") + to_text(r)).c_str()).replacement,
              (Figure<Replacement>{r, Origin::hypothetical, ""}));
  }
  EXPECT_EQ(set("L2.inclusion=exclusive").inclusion,
            (Figure<Inclusion>{Inclusion::exclusive, Origin::hypothetical, ""}));
  EXPECT_EQ(set("L2.write=write-through").write, WritePolicy::write_through);
  EXPECT_FALSE(set("L2.write_allocate=false").write_allocate);
  EXPECT_EQ(set("L2.prefetch=next-line").prefetch, Prefetch::next_line);
  EXPECT_EQ(error_of<UsageError>([&] { set("L2.replacement=mru"); }),
            "L2.replacement: 'mru' is unknown; use one of lru, fifo, random, tree-plru, bit-plru, "
            "srrip, brrip");
  EXPECT_EQ(error_of<UsageError>([&] { set("L2.write_allocate=no"); }),
            "L2.write_allocate: 'no' is neither true nor false; use true or false");
  EXPECT_EQ(error_of<UsageError>([&] { set("memory.prefetch=stride"); }),
            "memory.prefetch: memory is not a cache; only caches have prefetch");
}

TEST_F(MachineFiles, Measurements_of_a_rate_that_is_set_go_and_of_one_that_is_scaled_scale) {
  Machine m = find_machine("e5-2680v4");
  for (Level& l : m.levels) l.series.emplace_back().repetitions = {BytesPerSecond(1e9)};
  m.core.peaks.emplace_back().repetitions = {FlopsPerSecond(1e9)};
  const Machine set = override_knob(m, "L2.bandwidth=20B/cycle").machine;
  EXPECT_TRUE(set.levels[1].series.empty());
  EXPECT_EQ(set.levels[0].series, m.levels[0].series);
  EXPECT_EQ(set.core.peaks, m.core.peaks);
  const Machine scaled = override_knob(m, "L2.bandwidth=1.5x").machine;
  EXPECT_EQ(scaled.levels[1].series.at(0).median(), BytesPerSecond(1.5e9));
  EXPECT_EQ(scaled.levels[0].series, m.levels[0].series);
  EXPECT_EQ(override_knob(m, "L2.ways=16").machine.levels[1].series, m.levels[1].series);
  const Machine core = override_knob(m, "core.vector_bits=512").machine;
  EXPECT_TRUE(core.core.peaks.empty());
  EXPECT_EQ(core.levels[1].series, m.levels[1].series);
}

TEST_F(MachineFiles, A_capacity_is_rounded_to_whole_sets_and_says_so) {
  const Machine m = find_machine("e5-2680v4");
  // 4 MiB / (20 x 64) = 3276.8 sets; 3277 x 1280 = 4194560.
  const Overridden o = override_knob(m, "L3.capacity=4MiB");
  EXPECT_EQ(o.machine.levels[2].capacity.value, Bytes(4194560));
  EXPECT_EQ(
      o.note,
      "L3.capacity: 4MiB is not a whole number of 20-way sets of 64B lines; 4194560B is used");
  EXPECT_EQ(o.machine.levels[2].capacity.source, "rounded from 4MiB");
  EXPECT_EQ(override_knob(m, "L3.capacity=70MiB").note, "");
  // At least one set of 8 x 64 B.
  EXPECT_EQ(override_knob(m, "L1.capacity=1B").machine.levels[0].capacity.value, Bytes(512));
  // 32 KiB / (3 x 64) = 170.67 sets; 171 x 192 = 32832.
  EXPECT_EQ(override_knob(m, "L1.ways=3").note,
            "L1.ways: 32KiB is not a whole number of 3-way sets of 64B lines; 32832B is used");
  check(override_knob(m, "L1.ways=3").machine, "p");
}

TEST_F(MachineFiles, Knobs_that_cannot_be_set_are_refused_by_name) {
  const Machine m = find_machine("e5-2680v4");
  for (const char* knob : {"L3.capacity",
                           "L3.capacity=",
                           "=4MiB",
                           "L3=4MiB",
                           "L9.capacity=4MiB",
                           "L3.size=4MiB",
                           "core.turbo=1",
                           "L3.capacity=4XB",
                           "L3.capacity=-1x",
                           "L3.capacity=0x",
                           "L3.capacity=boxx",
                           "memory.ways=8",
                           "memory.line=64B",
                           "memory.capacity=2x",
                           "L1.latency=2x",
                           "core.frequency=3",
                           "core.fma_per_cycle=two",
                           "core.fma_per_cycle=0",
                           "core.vector_bits=2.5",
                           "L1.shared_by=99999999999",
                           "L1.ways=9e99x",
                           "L1.ways=9223372036854775807",
                           "memory.bandwidth=1e999x"}) {
    EXPECT_THROW(override_knob(m, knob), UsageError) << knob;
  }
  EXPECT_EQ(error_of<UsageError>([&] { override_knob(m, "L3.capacity=4XB"); }).substr(0, 42),
            "L3.capacity: '4XB': 'XB' is no unit of siz");
}

}  // namespace
}  // namespace tcsim
