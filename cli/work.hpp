// The steps that commands about a workload are made of, and the loop over several workloads that
// keeps what is done when somebody stops it.
#pragma once

#include <functional>

#include "cli/command.hpp"
#include "cli/result.hpp"

namespace tcsim::cli {

// A result with a schedule and its prediction.
Result predicted_result(const std::string& command, const Options&, const Contraction&,
                        const Machine&, Context&);
void add_simulation(Result& result, Context& context);
void add_run(Result& result, const Options& options, Context& context);

// Options of a real run: --repetitions.
void declare_run(boost::program_options::options_description& options);

// Calls `work` for every workload of the command line, then prints. Interrupted, it prints what is
// complete and returns Exit::interrupted.
Exit for_each_workload(const Options& options, Context& context,
                       const std::function<Result(const Contraction&, const Machine&)>& work);

}  // namespace tcsim::cli
