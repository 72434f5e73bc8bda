// Runs a fused schedule: tensors in HDF5 files, tiles in one piece of memory as large as the
// schedule's high-water mark, statements by tcsim's own executor. It is a visitor of the same
// walk() as the replay, so it moves the same tiles, and counts them where they are moved. Where
// tiles have two copies, they are read ahead and written behind, on threads of their own.
//
// Memory is a contract: what a run takes is known before it begins (run_figures()), and a run that
// would take more than it may is refused.
//
// What is done of a schedule is noted after each of its parts (those between cut-points), on disk.
// A run that was killed is resumed behind the last part that was done; the part in which it ended
// begins again, so that the result has the same bytes.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <stop_token>

#include "chains/inputs.hpp"
#include "core/fusion/fused_schedule.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::chains {

class LeafSchedules;

struct ChainRunOptions {
  std::filesystem::path folder;  // of the tensors' files, NAME.h5
  bool fill = false;             // make inputs that are missing
  bool force = false;            // results that are there may be overwritten
  bool resume = false;           // go on behind the last part that was done
  // Each transfer goes to the disk and comes from it, whatever the system's cache would hold: what
  // a chain does that is larger than this machine's memory.
  bool cold = false;
  // Another schedule that will read the inputs that are made: their chunks fit the tiles of both.
  const fusion::FusedNode* also = nullptr;
  fusion::Buffering buffering = fusion::Buffering::single;
  Bytes memory{std::numeric_limits<std::int64_t>::max()};  // that the run may take
  Numbers numbers;                                         // of inputs that are made
  int threads = 1;                                         // of the arithmetic
  // Of this tree, machine and number of threads, if several plans and runs share them.
  LeafSchedules* leaves = nullptr;
  std::function<void(double share)> progress = [](double) {};
  std::stop_token stop = {};
};

// What a run takes of memory at the same time, at most, over what the program has without it.
struct RunMemory {
  Bytes tiles;   // in whole lines and pages
  Bytes leaves;  // the executor's packed operands and tables
  Bytes files;   // chunks of files, and what HDF5 keeps
  Bytes all() const { return tiles + leaves + files; }
};
struct RunFigures {
  RunMemory memory;
  Seconds arithmetic;  // at the rates that are predicted for the statements' largest tiles
};

// Of a run of the schedule, which must have passed check(), with these threads and buffers, under a
// limit of `options.memory`, which chunks of files are small beside. The same in a tcsim without
// HDF5. Throws UnsupportedError where the executor cannot do it. Heeds StopScope.
RunFigures run_figures(const fusion::OperationTree& tree, const fusion::FusedNode& node,
                       const Machine& machine, const ChainRunOptions& options);

struct ChainRun {
  fusion::DiskTraffic moved;  // bytes and transfers where they were done; memory of tiles
  Seconds total;              // without inputs that were made, and without preparing
  Seconds reading, writing, computing;
  // Of the chunks that tiles have a part of: what is read from files whose chunks fit the tiles is
  // what is moved.
  Bytes chunks_read, chunks_written;
  int parts = 0, done_before = 0;  // parts of the schedule, and those that were not done again
  RunMemory memory;
};

// The schedule must have passed check(). Throws, before anything is written, InputError where an
// input is missing or another tensor, or a result is there already; UnsupportedError where the disk
// has not the room, memory is short or more than options.memory would be taken, or there is no
// HDF5. Throws Interrupted soon after a stop was requested; what is done stays, for a resumed run.
ChainRun run_chain(const fusion::OperationTree& tree, const fusion::FusedNode& node,
                   const Machine& machine, const ChainRunOptions& options);

// Compares elements of each output, at two neighbouring places of each of its indices, spread by
// the seed, with sums in plain loops over the inputs. The worst |difference| relative to the error
// bound of so many sums: at most 1 where the result is right; infinite where one is not a number.
// Throws UnsupportedError where the inputs that these elements need do not fit into memory.
double check_chain(const fusion::OperationTree& tree, const std::filesystem::path& folder,
                   std::uint64_t seed);

}  // namespace tcsim::chains
