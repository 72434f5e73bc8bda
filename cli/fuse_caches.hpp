// fuse without --memory: a chain whose tensors are all in memory, on a machine's caches.
#pragma once

#include "cli/command.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::cli {

// --simulate. The others are declared by the command.
void declare_fuse_in_caches(boost::program_options::options_description&);

Exit run_fuse_in_caches(const Options& options, const fusion::ChainRequest& request,
                        const Machine& machine, Context& context);

}  // namespace tcsim::cli
