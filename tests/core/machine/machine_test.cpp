// Machines: what check() refuses, the content hash, and the shipped machines.
#include "core/machine/machine.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "tests/core/machine_files.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

TEST_F(MachineFiles, Shipped_machines_hold_their_published_figures) {
  const Machine xeon = find_machine("e5-2680v4");
  // acmtc-sc19, Table 3.
  const std::vector<double> xeon_bandwidths{25.28, 19.68, 11.44, 6.08};
  ASSERT_EQ(xeon.levels.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(xeon.levels[i].bandwidth,
              (Figure<Bandwidth>{{xeon_bandwidths[i], Bandwidth::Unit::bytes_per_cycle},
                                 Origin::published,
                                 "acmtc-sc19, Table 3"}));
  }
  // 35 MiB / (20 x 64) = 28672; 256 KiB / (8 x 64) = 512; 32 KiB / (8 x 64) = 64.
  EXPECT_EQ(xeon.levels[0].sets(), 64);
  EXPECT_EQ(xeon.levels[1].sets(), 512);
  EXPECT_EQ(xeon.levels[2].sets(), 28672);
  EXPECT_EQ(xeon.levels[2].lines(), Lines(573440));
  EXPECT_EQ(xeon.levels[2].shared_by, 14);
  // 2 flops x 4 lanes x 2 FMA x 2.4e9; twice the lanes for f32.
  EXPECT_DOUBLE_EQ(xeon.peak(Bytes(8)).value(), 38.4e9);
  EXPECT_DOUBLE_EQ(xeon.peak(Bytes(4)).value(), 76.8e9);
  EXPECT_DOUBLE_EQ(xeon.bandwidth(LevelId{3}).value(), 6.08 * 2.4e9);

  const Machine desktop = find_machine("i7-6700k");
  const std::vector<double> desktop_bandwidths{19.36, 18.32, 12.8, 6.4};
  ASSERT_EQ(desktop.levels.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(desktop.levels[i].bandwidth.value.value, desktop_bandwidths[i]);
  }
  EXPECT_EQ(desktop.levels[1].sets(), 1024);  // 256 KiB / (4 x 64)
  EXPECT_EQ(desktop.levels[2].sets(), 8192);  // 8 MiB / (16 x 64)
  EXPECT_DOUBLE_EQ(desktop.peak(Bytes(8)).value(), 64e9);
}

TEST_F(MachineFiles, A_link_is_named_from_the_inside_out) {
  const Machine m = find_machine("i7-6700k");
  EXPECT_EQ(m.cache_count(), 3);
  EXPECT_EQ(m.link(LevelId{0}), "L1-register");
  EXPECT_EQ(m.link(LevelId{1}), "L1-L2");
  EXPECT_EQ(m.link(LevelId{3}), "L3-memory");
}

TEST_F(MachineFiles, A_machine_is_found_by_name_or_path_and_otherwise_the_names_are_listed) {
  const std::vector<std::string> names = shipped_machines();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::count(names.begin(), names.end(), "e5-2680v4"), 1);
  for (const std::string& name : names) EXPECT_EQ(find_machine(name).name, name);
  const fs::path file = write("mine.toml", file_with(plain_keys));
  EXPECT_EQ(find_machine(file.string()).name, "small");
  const std::string error = error_of<UsageError>([] { find_machine("e5-2680"); });
  EXPECT_NE(error.find("'e5-2680': no such machine"), std::string::npos) << error;
  EXPECT_NE(error.find("e5-2680v4, e5-2680v4-batched, gold-5220"), std::string::npos) << error;
}

TEST_F(MachineFiles, A_data_folder_that_is_none_is_an_error_and_not_passed_over) {
  setenv("TCSIM_DATA_DIR", folder_.c_str(), 1);
  EXPECT_THROW(data_dir(), InputError);
}

Level other_kind(const std::string& name, LevelKind kind) {
  Level l;
  l.name = name;
  l.kind = kind;
  return l;
}

TEST(MachineCheck, Machines_that_cannot_be_are_refused) {
  const auto refused = [](const std::function<void(Machine&)>& spoil) {
    Machine m = valid();
    Level l2 = m.levels[0];
    l2.name = "L2";
    l2.capacity.value = Bytes(65536);
    m.levels.insert(m.levels.begin() + 1, l2);
    check(m, "p");  // sound before
    spoil(m);
    return error_of([&] { check(m, "p"); });
  };
  EXPECT_EQ(refused([](Machine& m) { m.levels.clear(); }),
            "p: a machine of 0 levels; give at least one cache, then memory or disk");
  EXPECT_EQ(refused([](Machine& m) { m.levels[1].name = "L1"; }),
            "p: two levels are named L1; give each level a name of its own");
  EXPECT_EQ(refused([](Machine& m) { m.levels[1].capacity.value = Bytes(16384); }),
            "p: L2 (16KiB) is smaller than L1 inside it (32KiB); list the levels from the core "
            "outward; capacities do not shrink");
  // 10 B/cycle x 2 GHz = 20 GB/s.
  EXPECT_EQ(refused([](Machine& m) { m.levels[2].bandwidth.value.value = 20.5e9; }),
            "p: memory (20.5GB/s) is faster than L2 inside it (10B/cycle); check the units; an "
            "outer level is not faster than the level inside it");
  EXPECT_EQ(refused([](Machine& m) { m.levels.pop_back(); }),
            "p: L2 is a cache and the last level; from the core outward a machine has caches or "
            "scratchpads, then memory or disk");
  EXPECT_EQ(refused([](Machine& m) {
              m.levels[0] = other_kind("near", LevelKind::memory);
              m.levels[0].capacity.value = Bytes(1024);
              m.levels[0].bandwidth.value.value = 20e9;
            }),
            "p: L2 is a cache outside near, a memory; from the core outward a machine has caches "
            "or scratchpads, then memory or disk");
  EXPECT_EQ(refused([](Machine& m) {
              m.levels.push_back(m.levels[2]);
              m.levels[3].name = "disk";
              m.levels[3].kind = LevelKind::disk;
            }),
            "p: disk lies outside memory, which is unlimited; give memory a capacity");
  EXPECT_EQ(refused([](Machine& m) {
              m.levels[1] = other_kind("local", LevelKind::scratchpad);
              m.levels[1].bandwidth.value.value = 5e9;
            }),
            "p: scratchpad local has no capacity; give a size such as 1GiB");
  EXPECT_EQ(
      refused([](Machine& m) { m.levels[1].line.value = Bytes(48); }),
      "p: L2 has lines of 48 bytes; a line is a power of two from 8 to 4096 bytes, such as 64B");
  const std::vector<std::function<void(Machine&)>> spoilers{
      [](Machine& m) { m.levels[1].ways.value = 0; },
      [](Machine& m) { m.levels[1].capacity.value = Bytes(0); },
      [](Machine& m) { m.levels[1].capacity.value = Bytes(65600); },
      [](Machine& m) { m.levels[1].bandwidth.value.value = 0; },
      [](Machine& m) { m.levels[1].bandwidth.value.value = std::nan(""); },
      [](Machine& m) { m.levels[1].shared_by = 0; },
      [](Machine& m) { m.levels[1].latency = Figure<Cycles>{}; },
      [](Machine& m) { m.levels[1].name = "core"; },
      [](Machine& m) { m.levels[1].name = "L.2"; },
      [](Machine& m) { m.levels[1].name = ""; },
      [](Machine& m) { m.levels[2].ways.value = 8; },
      [](Machine& m) { m.levels[0].series.push_back({}); },
      [](Machine& m) { m.core.peaks.push_back({}); },
      [](Machine& m) { m.method.emplace().repetitions = -1; },
      [](Machine& m) {
        m.tlbs.push_back({"", 64, 4, Bytes(4096)});
      },
      [](Machine& m) {
        m.tlbs.push_back({"DTLB", 64, 5, Bytes(4096)});
      },
      [](Machine& m) {
        m.tlbs.push_back({"DTLB", 64, 0, Bytes(4096)});
      },
      [](Machine& m) {
        m.tlbs.push_back({"DTLB", 64, 4, Bytes(4000)});
      },
      [](Machine& m) { m.core.frequency.value = Hertz(0); },
      [](Machine& m) { m.core.vector_bits.value = 192; },
      [](Machine& m) { m.core.vector_registers.value = 0; },
      [](Machine& m) { m.core.fma_per_cycle.value = -1; },
      [](Machine& m) { m.core.fma_latency.value = Cycles(0); }};
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    EXPECT_TRUE(refused(spoilers[i]).starts_with("p: ")) << "spoiler " << i;
  }
  // A memory and a disk behind scratchpads are a machine, and so are equal neighbours.
  EXPECT_EQ(refused([](Machine& m) {
              m.levels[1] = other_kind("local", LevelKind::scratchpad);
              m.levels[1].capacity.value = Bytes(std::int64_t{1} << 30);
              m.levels[1].bandwidth.value.value = 5e9;
              m.levels[2].capacity.value = Bytes(std::int64_t{1} << 35);
              m.levels.push_back(m.levels[2]);
              m.levels[3].name = "disk";
              m.levels[3].kind = LevelKind::disk;
            }),
            "no error");
  EXPECT_EQ(refused([](Machine& m) { m.levels[1].capacity.value = Bytes(32768); }), "no error");
  EXPECT_EQ(refused([](Machine& m) { m.levels[2].bandwidth.value.value = 20e9; }), "no error");
}

TEST(MachineCheck, Series_that_cannot_be_are_refused) {
  const BandwidthSeries sound{AccessMix::load,       Bytes(8),   "AVX2", 1, Bytes(1024),
                              {BytesPerSecond(1e9)}, Hertz(2e9), false};
  const auto refused = [&](const std::function<void(BandwidthSeries&)>& spoil) {
    Machine m = valid();
    m.levels[0].series.push_back(sound);
    check(m, "p");
    spoil(m.levels[0].series[0]);
    return error_of([&] { check(m, "p"); });
  };
  EXPECT_EQ(refused([](BandwidthSeries& s) { s.element = Bytes(16); }),
            "p: a series of L1 has elements of 16 bytes; elements have 4 or 8 bytes");
  EXPECT_EQ(refused([](BandwidthSeries& s) { s.instruction_set = ""; }),
            "p: a series of L1 has no instruction set; name it, such as \"AVX2\"");
  EXPECT_EQ(refused([](BandwidthSeries& s) { s.cores = 0; }),
            "p: a series of L1 was taken on 0 cores; give at least 1");
  EXPECT_EQ(refused([](BandwidthSeries& s) { s.repetitions.clear(); }),
            "p: a series of L1 has no repetitions; give at least one, or take the series out");
  EXPECT_EQ(refused([](BandwidthSeries& s) { s.repetitions.emplace_back(-1); }),
            "p: a series of L1 has a repetition of -1; a rate is greater than 0");
  EXPECT_EQ(refused([](BandwidthSeries& s) { s.working_set = Bytes(0); }),
            "p: a series of L1 has a working set of 0 bytes; give a size such as 16KiB");
  EXPECT_EQ(
      refused([](BandwidthSeries& s) { s.frequency = Hertz(-2); }),
      "p: a series of L1 ran at -2; give a frequency such as 2.6GHz, or none if it is unknown");
}

TEST(Series, Median_and_spread_are_of_the_sorted_repetitions) {
  BandwidthSeries s;
  for (double rate : {40.0, 10.0, 20.0, 30.0}) s.repetitions.emplace_back(rate);
  // Quartiles of 10 20 30 40 at positions 0.75, 1.5 and 2.25: 17.5, 25 and 32.5.
  EXPECT_EQ(s.median(), BytesPerSecond(25));
  EXPECT_DOUBLE_EQ(s.spread(), 15.0 / 25);
  PeakSeries p;
  p.repetitions = {FlopsPerSecond(7)};
  EXPECT_EQ(p.median(), FlopsPerSecond(7));
  EXPECT_EQ(p.spread(), 0);
}

TEST(MachineHash, Names_and_origins_leave_it_alone_and_every_figure_changes_it) {
  const Machine m = valid();
  Machine renamed = m;
  renamed.name = "other";
  renamed.description = "other";
  renamed.accounting.name = "other";
  renamed.levels[0].capacity.origin = Origin::vendor;
  renamed.levels[0].capacity.source = "other";
  renamed.levels[0].replacement.origin = Origin::vendor;
  renamed.levels[0].inclusion.source = "other";
  renamed.core.overhead.call.origin = Origin::measured;
  renamed.core.overhead.call.source = "other";
  renamed.levels[0].series.emplace_back();
  renamed.core.peaks.emplace_back();
  renamed.method.emplace();
  renamed.remarks.push_back("other");
  EXPECT_EQ(content_hash(renamed), content_hash(m));
  EXPECT_EQ(content_hash(m).size(), 16u);
  // As it was before levels had an index: what a file does not use is not in the hash.
  EXPECT_EQ(content_hash(find_machine("i7-6700k")), "ecb7d34f50902af8");
  EXPECT_EQ(content_hash(m).find_first_not_of("0123456789abcdef"), std::string::npos);

  const std::vector<std::function<void(Machine&)>> changes{
      [](Machine& c) { c.levels[0].name = "l1"; },
      [](Machine& c) { c.levels[1].kind = LevelKind::disk; },
      [](Machine& c) { c.levels[0].capacity.value = Bytes(65536); },
      [](Machine& c) { c.levels[0].ways.value = 4; },
      [](Machine& c) { c.levels[0].line.value = Bytes(128); },
      [](Machine& c) { c.levels[0].replacement.value = Replacement::fifo; },
      [](Machine& c) { c.levels[0].replacement.value = Replacement::tree_plru; },
      [](Machine& c) { c.levels[0].inclusion.value = Inclusion::inclusive; },
      [](Machine& c) { c.levels[0].prefetch = Prefetch::next_line; },
      [](Machine& c) { c.levels[0].prefetch = Prefetch::stride; },
      [](Machine& c) {
        c.tlbs.push_back({"DTLB", 64, 4, Bytes(4096)});
      },
      [](Machine& c) {
        c.tlbs.push_back({"DTLB", 64, 8, Bytes(4096)});
      },
      [](Machine& c) { c.levels[0].write = WritePolicy::write_through; },
      [](Machine& c) { c.levels[0].write_allocate = false; },
      [](Machine& c) { c.levels[0].shared_by = 2; },
      [](Machine& c) { c.levels[0].bandwidth.value.value = std::nextafter(10, 11); },
      [](Machine& c) { c.levels[0].bandwidth.value.unit = Bandwidth::Unit::bytes_per_second; },
      [](Machine& c) {
        c.levels[0].latency = Figure<Cycles>{Cycles(4), Origin::assumed, ""};
      },
      [](Machine& c) {
        c.levels[0].energy = Figure<JoulesPerByte>{JoulesPerByte(25e-12), Origin::assumed, ""};
      },
      [](Machine& c) {
        c.levels[0].exposed = Figure<double>{0.2, Origin::assumed, ""};
      },
      [](Machine& c) { c.levels[0].loads.value = 0.75; },
      [](Machine& c) { c.core.overhead.call.value = Cycles(21); },
      [](Machine& c) { c.core.overhead.task.value = Cycles(21); },
      [](Machine& c) { c.core.overhead.apart.value = 0; },
      [](Machine& c) { c.core.cores = 2; },
      [](Machine& c) { c.core.frequency.value = Hertz(2.1e9); },
      [](Machine& c) { c.core.vector_bits.value = 512; },
      [](Machine& c) { c.core.vector_registers.value = 32; },
      [](Machine& c) { c.core.fma_per_cycle.value = 1; },
      [](Machine& c) { c.core.fma_latency.value = Cycles(5); },
      [](Machine& c) { c.accounting.write_backs = false; },
      [](Machine& c) { c.accounting.compute_roof = false; },
      [](Machine& c) { c.accounting.packing = false; },
      [](Machine& c) { c.accounting.halve_register_loads = true; }};
  std::set<std::string> hashes{content_hash(m)};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Machine changed = m;
    changes[i](changed);
    EXPECT_TRUE(hashes.insert(content_hash(changed)).second) << "change " << i;
  }
}

}  // namespace
}  // namespace tcsim
