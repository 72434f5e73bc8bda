// Runs a chain on explicit levels: the disk is HDF5 files, which the first process reads and
// writes; the level inside it is shared by all processes (global_memory.hpp); the others are memory
// of each process, as large as the schedule's high-water mark, and statements run there by tcsim's
// own executor. All processes walk the schedule: over loops of the shared level together, with
// fences where data pass from one to another, and inside it each over its own tiles.
//
// Bytes, transfers and high-water marks are counted where data are moved and held, for each
// process, in the terms of core/levels/count.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "chains/inputs.hpp"
#include "chains/levels/device.hpp"
#include "core/levels/count.hpp"
#include "core/machine/machine.hpp"
#include "processes/processes.hpp"

namespace tcsim::chains {

struct LevelRunOptions {
  std::filesystem::path folder;  // of the tensors' files, NAME.h5
  bool fill = false;             // make inputs that are missing
  bool force = false;            // results that are there may be overwritten
  bool resume = false;           // go on behind the last part that was done
  Numbers numbers;               // of inputs that are made
  // Another schedule that will read them: their chunks fit the tiles of both.
  const levels::Node* also = nullptr;
  int threads = 1;      // of each process's arithmetic
  bool device = false;  // hold the innermost level in a device, and compute there
  Devices devices;      // that there are
  std::vector<TunedDevice> tuned;
  std::function<void(double share)> progress = [](double) {};
  std::stop_token stop = {};
};

struct LevelRun {
  levels::Counts counts;  // where they were done
  Seconds total;          // without inputs that were made, and without preparing
  // Of the process that it took longest: what it moved over each link (by the inner level), and
  // computed.
  std::vector<Seconds> links;
  Seconds arithmetic;
  Bytes executor;  // packed operands and tables of a process, beside its tiles
  // Of files' chunks that were read or written, each whole, however small the part of it was.
  Bytes chunks{0};
  int parts = 0, done_before = 0;
  std::string device;     // its name, where one was asked for and did it
  std::string no_device;  // or why the host computed
};

// Whether so many processes can run it. Throws UnsupportedError where the machine has levels that
// some of them share, or another number of processes.
void check_processes(const levels::Hierarchy& hierarchy, int processes);

// Throws what a run refuses for its folder, and writes nothing. Of the first process.
void check_folder(const fusion::OperationTree& tree, const levels::Hierarchy& hierarchy,
                  const levels::Node& node, const LevelRunOptions& options);

// Collective over the team. The schedule is a plan's. `machine` is the one that runs it, for the
// executor's schedules. Throws, before anything is written, InputError where an input is missing or
// another tensor, or a result is there already; UnsupportedError where the disk has not the room,
// memory is short, or there is no HDF5. What goes wrong later ends all processes, where there are
// several; otherwise it is thrown, Interrupted too. A device that fails later is UnsupportedError;
// it leaves the disk so that `resume` goes on, without it too.
LevelRun run_levels(const fusion::OperationTree& tree, const levels::Hierarchy& hierarchy,
                    const levels::Node& node, const Machine& machine, const Processes& team,
                    const LevelRunOptions& options);

// What differs of what was predicted: "local-global: 4096 bytes in instead of 2048"; "" if nothing.
std::string differences(const fusion::OperationTree& tree, const levels::Hierarchy& hierarchy,
                        const levels::Counts& predicted, const levels::Counts& measured);

}  // namespace tcsim::chains
