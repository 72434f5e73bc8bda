// The disk's figures: measured somewhere, kept and read again, and refused where there is none.
#include "microbench/disk.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "tests/scratch.hpp"

namespace tcsim {
namespace {

namespace fs = std::filesystem;

DiskProbeOptions small() {
  DiskProbeOptions o;
  o.file = Bytes(1 << 20);
  o.block = Bytes(1 << 18);
  o.repetitions = 2;
  o.transfers = 8;
  return o;
}

TEST(Disk, Is_measured_without_a_trace) {
  const fs::path folder = test::scratch("disk");
  fs::create_directory(folder);
  int steps = 0;
  DiskProbeOptions o = small();
  o.progress = [&](const std::string&, double share) {
    ++steps;
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  };
  const DiskFigures disk = probe_disk(folder, o);
  EXPECT_GT(disk.read.value(), 0);
  EXPECT_GT(disk.write.value(), 0);
  EXPECT_GT(disk.transfer.value(), 0);
  EXPECT_EQ(steps, 5);
  EXPECT_TRUE(fs::is_empty(folder));

  std::ofstream(folder / "disk.toml") << to_toml(disk);
  EXPECT_EQ(load_disk(folder / "disk.toml"), disk);
  EXPECT_EQ(load_disk(folder / "another.toml"), std::nullopt);
  std::ofstream(folder / "disk.toml") << "schema = 1\nread_bytes_per_second = -1\n";
  EXPECT_THROW(load_disk(folder / "disk.toml"), InputError);
  std::ofstream(folder / "disk.toml") << "schema = ";
  EXPECT_THROW(load_disk(folder / "disk.toml"), InputError);
  fs::remove_all(folder);
}

TEST(Disk, Is_refused_where_there_is_none) {
  EXPECT_THROW(probe_disk(test::scratch("nowhere"), small()), InputError);
  EXPECT_THROW(probe_disk("/proc", small()), InputError);
}

TEST(Disk, Stops_when_asked) {
  const fs::path folder = test::scratch("disk_stop");
  fs::create_directory(folder);
  std::stop_source source;
  source.request_stop();
  DiskProbeOptions o = small();
  o.stop = source.get_token();
  EXPECT_THROW(probe_disk(folder, o), Interrupted);
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tcsim
