// The explicit levels that this machine has, measured by the code that runs chains on them
// (chains/levels): HDF5 files in a folder, the memory that all processes share, a device of OpenCL.
// What is measured and the machine that is made of it are separate, and the second is a pure
// function.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/tune_device.hpp"
#include "core/machine/machine.hpp"
#include "processes/processes.hpp"

namespace tcsim::bench {

// Seconds that a tile of so many bytes took on its way in and out, of the process that it took
// longest; in each repetition.
struct TileTimes {
  Bytes tile;
  std::vector<Seconds> in, out;
};

// A link, by a small tile and a large one.
struct LinkTimes {
  std::string through;  // "HDF5", "memory", "windows of MPI", "OpenCL"
  TileTimes small, large;
};

struct DeviceMeasured {
  std::string name;
  Bytes memory, piece;  // all of it, and what can be had at once
  LinkTimes link;
  std::int64_t rows = 0;                   // and columns, of the matrices whose products were timed
  std::vector<DeviceTuning> tunings = {};  // of the first process; empty where none was asked for
};

struct MeasuredLevels {
  std::string folder;
  int processes = 1, on_this_computer = 1;
  Bytes free_memory;       // of this computer
  LinkTimes disk, global;  // between disk and global level, and between that and each process
  std::optional<DeviceMeasured> device;
  // Of each process while all are at work: products of square matrices whose tiles are in the
  // innermost level, by the executor or the device.
  std::vector<FlopsPerSecond> products;
  // Of each process while all are at work: what statements on thin tiles took for each byte of
  // them, matrix by vector products of several orders; in each repetition. Empty with a device.
  std::vector<Seconds> tile_bytes;
  // What each row took beyond its bytes where tiles of short rows went between a process and the
  // global level, while all were at work; in each repetition.
  std::vector<Seconds> rows;
  // In a run, what each transfer of a tile between a process and the global level took beyond its
  // bytes, with what starting statements on tiles took; in each repetition. May be empty.
  std::vector<Seconds> tiles;
};

struct LevelProbeOptions {
  std::filesystem::path folder;
  bool device = false;
  // CLBlast's sizes that are known; others are looked for so long, half of it for each type, where
  // there are none for the device, or in any case. 0: not at all.
  std::vector<chains::TunedDevice> tuned = {};
  Seconds tune{0};
  bool tune_anyhow = false;
  // Called by the first process with the best so far, each time that there is a better one.
  std::function<void(const std::string& device, const DeviceTuning&)> found = [](const auto&,
                                                                                 const auto&) {};
  int repetitions = 7;
  Bytes file{std::int64_t{256} << 20};  // that is written, and gone afterwards
  Bytes part{std::int64_t{16} << 20};   // a large tile of each process
  std::int64_t matrix = 1024;           // rows and columns of a product; of a device at least
  int transfers = 64;                   // small tiles in a repetition
  std::function<void(const std::string& what, double share)> progress = [](const auto&, double) {};
  std::stop_token stop = {};
};

// Collective. Throws InputError where the folder is none or cannot be written; UnsupportedError
// without HDF5, without the memory, or where a device is asked for and there is none; Interrupted.
MeasuredLevels measure_levels(const Processes& team, const LevelProbeOptions& options);

// What a transfer takes before its first byte, and the rate of those behind: the line through the
// median times of both tiles, of a way in and a way out together.
struct LinkFigure {
  BytesPerSecond bandwidth;
  Seconds transfer;
  double spread = 0;  // of the large tile's, relative_spread()
};
LinkFigure link_figure(const LinkTimes& times);
// A tile's way in and out, by repetition: bytes of both over the time of both.
std::vector<BytesPerSecond> both_ways(const TileTimes& times);

// Levels device (if there is one), local, global and disk. Their capacities are assumed: shares of
// the memory that was free. `host` has the core's figures that nothing here measures.
Machine machine_of(const MeasuredLevels& measured, const Machine& host);

}  // namespace tcsim::bench
