// fuse on a machine with explicit levels: disk, global memory, local memory of processes.
#pragma once

#include "cli/command.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::cli {

// --vary. The others are declared by the command.
void declare_fuse_in_levels(boost::program_options::options_description&);
// Throws UsageError where it is given: the machine has no explicit levels, or --memory is there.
void refuse_options_of_levels(const Options&);

Exit run_fuse_in_levels(const Options& options, const fusion::ChainRequest& request,
                        const Machine& machine, Context& context);

}  // namespace tcsim::cli
