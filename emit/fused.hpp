// Writes a fused schedule as one C file: its loops as real nested loops, its tiles at fixed places
// of one piece of memory, its reads and writes as calls of HDF5, and each statement as plain loops
// over its tile. It is one more interpreter of the schedule's tree, beside the replay and the run,
// for the same files: FOLDER/NAME.h5 with a data set "data".
#pragma once

#include <string>
#include <vector>

#include "core/fusion/fused_schedule.hpp"

namespace tcsim {

struct EmitFusedOptions {
  // Lines for the comment at the top: who wrote the file, and what is predicted.
  std::vector<std::string> remarks;
};

// The file. It is C11, compiles without warnings under -Wall -Wextra with HDF5's headers, and takes
// the folder as its argument. Inputs have to be there; results are overwritten; intermediates that
// were on disk are gone at the end. The schedule must have passed check(). Throws UnsupportedError
// for tensors of two types.
std::string emit_fused_c(const fusion::OperationTree& tree, const fusion::FusedNode& node,
                         const EmitFusedOptions& options = {});

}  // namespace tcsim
