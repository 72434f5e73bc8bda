// What is made of measured levels, by hand; and that measuring them leaves nothing behind.
#include "bench/explicit_levels.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "chains/levels/device.hpp"
#include "chains/tensor_files.hpp"
#include "core/error.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/machine/toml.hpp"
#include "kernels/contract.hpp"
#include "tests/scratch.hpp"

namespace tcsim::bench {
namespace {

namespace fs = std::filesystem;

std::vector<Seconds> seconds(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// 10 us a transfer and 1 GB/s: 4 kB take 14 us, 16 MB take 16.01 ms; on the way in half of that
// more, on the way out half of it less.
LinkTimes made_up(double transfer = 10e-6, double rate = 1e9) {
  LinkTimes times{"made up", {Bytes(4000), {}, {}}, {Bytes(16'000'000), {}, {}}};
  for (TileTimes* tile : {&times.small, &times.large}) {
    const double one = transfer + static_cast<double>(tile->tile.value()) / rate;
    tile->in = seconds({1.5 * one, 1.5 * one, 9 * one});
    tile->out = seconds({0.5 * one, 0.5 * one, 9 * one});
  }
  return times;
}

MeasuredLevels made_up_levels() {
  MeasuredLevels m;
  m.folder = "/data";
  m.processes = 4;
  m.on_this_computer = 2;
  m.free_memory = Bytes(std::int64_t{8} << 30);
  m.disk = made_up(1e-3, 5e9);
  m.global = made_up(20e-6, 2e9);
  for (double rate : {3e9, 1e9, 2e9}) m.products.emplace_back(rate);
  m.tile_bytes = seconds({0.3e-9, 0.1e-9, 0.2e-9});
  m.rows = seconds({20e-9, 10e-9, 90e-9});
  return m;
}

TEST(ExplicitLevels, FiguresAreTheLineThroughBothTiles) {
  const LinkFigure figure = link_figure(made_up());
  EXPECT_NEAR(figure.bandwidth.value(), 1e9, 1);
  EXPECT_NEAR(figure.transfer.value(), 10e-6, 1e-12);
  EXPECT_NEAR(both_ways(made_up(0).large)[0].value(), 1e9, 1);
  // Noise may have the small tile take as long as the large one.
  LinkTimes flat = made_up();
  flat.small.in = flat.large.in;
  flat.small.out = flat.large.out;
  EXPECT_NEAR(link_figure(flat).bandwidth.value(), 16e6 / 16.01e-3, 1);
  EXPECT_GT(link_figure(flat).transfer.value(), 0);
}

TEST(ExplicitLevels, MakeAMachineThatIsReadBack) {
  const Machine m = machine_of(made_up_levels(), assumed_machine());
  EXPECT_EQ(parse_machine(to_toml(m), "test"), m);
  ASSERT_TRUE(levels::has_explicit_levels(m));
  // The disk is faster than the network, which is no error.
  const levels::Hierarchy h = levels::hierarchy(m, Bytes(8));
  ASSERT_EQ(h.links(), 2);
  EXPECT_EQ(h.link(0), "local-global");
  EXPECT_EQ(h.instances(0), 4);
  EXPECT_NEAR(h.level(0).bandwidth.value(), 2e9, 10);
  EXPECT_NEAR(h.level(0).transfer.value(), 20e-6, 1e-11);
  EXPECT_NEAR(h.level(0).row.value(), 20e-9, 1e-18);
  EXPECT_EQ(h.level(1).row, Seconds(0));
  EXPECT_NEAR(h.level(1).bandwidth.value(), 5e9, 100);
  EXPECT_NEAR(h.level(1).transfer.value(), 1e-3, 1e-9);
  EXPECT_NEAR(h.rate.value(), 2e9, 1);
  EXPECT_NEAR(h.tile_byte.value(), 0.2e-9, 1e-18);
  // Half of 8 GiB of each of two computers; a quarter of it for the two processes of one.
  EXPECT_EQ(h.level(1).capacity, Bytes(std::int64_t{8} << 30));
  EXPECT_EQ(h.level(0).capacity, Bytes(std::int64_t{1} << 30));
  // Every repetition is kept.
  ASSERT_EQ(m.levels[1].series.size(), 4U);
  for (const BandwidthSeries& s : m.levels[1].series) EXPECT_EQ(s.repetitions.size(), 3U);
  EXPECT_NEAR(m.levels[1].series[3].repetitions[0].value(), 4 * 16e6 / (20e-6 + 8e-3), 1e3);
  EXPECT_EQ(m.core.peaks.at(0).repetitions.size(), 3U);
  EXPECT_EQ(m.core.peaks.at(0).repetitions[0], FlopsPerSecond(12e9));
}

// A tile takes what it takes in a run, where that is more than the line through both sizes says.
TEST(ExplicitLevels, CountWhatSmallTilesTakeInARun) {
  MeasuredLevels made = made_up_levels();
  const auto transfer_of = [&](int level) {
    const Machine m = machine_of(made, assumed_machine());
    EXPECT_EQ(parse_machine(to_toml(m), "test"), m);
    return levels::hierarchy(m, Bytes(8)).level(level).transfer.value();
  };
  made.tiles = seconds({50e-6, 30e-6, 90e-6});
  EXPECT_NEAR(transfer_of(0), 50e-6, 1e-11);
  EXPECT_NEAR(transfer_of(1), 1e-3, 1e-9);
  made.tiles = seconds({5e-6, 3e-6, 9e-6});
  EXPECT_NEAR(transfer_of(0), 20e-6, 1e-11);
  made.tiles = seconds({50e-6});
  made.device = DeviceMeasured{"a device", Bytes(std::int64_t{4} << 30),
                               Bytes(std::int64_t{256} << 20), made_up(5e-6, 1e9)};
  EXPECT_NEAR(transfer_of(0), 5e-6, 1e-11);
  EXPECT_NEAR(transfer_of(1), 20e-6, 1e-11);
}

TEST(ExplicitLevels, OfADeviceAreFour) {
  MeasuredLevels made = made_up_levels();
  made.device = DeviceMeasured{"a device", Bytes(std::int64_t{4} << 30),
                               Bytes(std::int64_t{256} << 20), made_up(5e-6, 1e9)};
  for (const double rate : {1e7, 3e9, 60e12}) {
    for (FlopsPerSecond& r : made.products) r = FlopsPerSecond(rate);
    const Machine m = machine_of(made, assumed_machine());
    EXPECT_EQ(parse_machine(to_toml(m), "test"), m);
    const levels::Hierarchy h = levels::hierarchy(m, Bytes(8));
    ASSERT_EQ(h.links(), 3);
    EXPECT_EQ(h.link(0), "device-local");
    EXPECT_NEAR(h.level(0).bandwidth.value(), 1e9, 1);
    EXPECT_NEAR(h.level(0).row.value(), 20e-9, 1e-18);
    EXPECT_EQ(h.level(0).capacity, Bytes(std::int64_t{256} << 20));
    EXPECT_NEAR(h.rate.value() / rate, 1, 1e-12);
  }
}

LevelProbeOptions small(const fs::path& folder) {
  LevelProbeOptions o;
  o.folder = folder;
  o.repetitions = 2;
  o.file = Bytes(2 << 20);
  o.part = Bytes(64 << 10);
  o.matrix = 48;
  o.transfers = 4;
  return o;
}

TEST(ExplicitLevels, AreMeasuredWithoutATrace) {
  const fs::path folder = test::scratch("levels_probe");
  fs::create_directory(folder);
  LevelProbeOptions o = small(folder);
  int steps = 0;
  o.progress = [&](const std::string&, double share) {
    ++steps;
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  };
  if (!chains::has_tensor_files()) {
    EXPECT_THROW(measure_levels(Processes::all(), o), UnsupportedError);
    fs::remove_all(folder);
    return;
  }
  const MeasuredLevels m = measure_levels(Processes::all(), o);
  EXPECT_EQ(m.processes, 1);
  EXPECT_EQ(m.global.through, "memory");
  EXPECT_EQ(steps, 12);
  for (const LinkTimes* link : {&m.disk, &m.global}) {
    EXPECT_EQ(link->small.tile, Bytes(4096));
    for (const TileTimes* tile : {&link->small, &link->large}) {
      ASSERT_EQ(tile->in.size(), 2U);
      ASSERT_EQ(tile->out.size(), 2U);
      for (int r = 0; r < 2; ++r) {
        EXPECT_GT(tile->in[static_cast<std::size_t>(r)].value(), 0);
        EXPECT_GT(tile->out[static_cast<std::size_t>(r)].value(), 0);
      }
    }
  }
  EXPECT_EQ(m.disk.large.tile, Bytes(2 << 20));
  ASSERT_EQ(m.products.size(), 2U);
  EXPECT_GT(m.products[0].value(), 0);
  ASSERT_EQ(m.tile_bytes.size(), 2U);
  EXPECT_GT(m.tile_bytes[0].value(), 0);
  EXPECT_LT(m.tile_bytes[0].value(), 1e-7);
  ASSERT_EQ(m.rows.size(), 2U);
  EXPECT_LT(m.rows[0].value(), 1e-5);
  ASSERT_EQ(m.tiles.size(), 2U);
  EXPECT_GE(m.tiles[0].value(), 0);
  EXPECT_LT(m.tiles[0].value(), 1e-2);
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(levels::hierarchy(machine_of(m, assumed_machine()), Bytes(8)).links(), 2);
  fs::remove_all(folder);
}

TEST(ExplicitLevels, AreRefusedOrStoppedWithoutATrace) {
  EXPECT_THROW(measure_levels(Processes::all(), small(test::scratch("nowhere"))), InputError);
  if (!chains::has_tensor_files()) return;
  EXPECT_THROW(measure_levels(Processes::all(), small("/proc")), InputError);
  const fs::path folder = test::scratch("levels_stop");
  fs::create_directory(folder);
  for (const int after : {0, 2, 4, 6}) {
    std::stop_source source;
    LevelProbeOptions o = small(folder);
    o.stop = source.get_token();
    int steps = 0;
    o.progress = [&](const std::string&, double) {
      if (steps++ == after) source.request_stop();
    };
    EXPECT_THROW(measure_levels(Processes::all(), o), Interrupted) << after;
    EXPECT_TRUE(fs::is_empty(folder));
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tcsim::bench
