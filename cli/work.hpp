// The steps that commands about a workload are made of, and the loop over several workloads that
// keeps what is done when somebody stops it.
#pragma once

#include <functional>
#include <optional>

#include "cli/command.hpp"
#include "cli/request.hpp"
#include "cli/result.hpp"
#include "kernels/repetitions.hpp"
#include "microbench/counters/counting.hpp"

namespace tcsim::cli {

// A result with a schedule and its prediction.
Result predicted_result(const std::string& command, const Options&, const Contraction&,
                        const Machine&, Context&, std::optional<Tuned> tuned = {});

// Commands that run on this machine take what tcsim tune found for it: --untuned.
void declare_untuned(boost::program_options::options_description& options);
// That for the contraction on so many threads. None if there is none, or where the schedule is
// given or chosen for something else: another machine or objective, other figures or accounting.
std::optional<Tuned> tuned_schedule(const Options&, const Contraction&, int threads, Context&);
// By the window model; nothing for a result by another model.
void add_advice(Result& result, const Options& options, Context& context);

// Options of a real run: --repetitions, --seed, --counters.
void declare_run(boost::program_options::options_description& options);

// Real runs with what --counters asks for. Throws UnsupportedError at once if the machine cannot
// count that way, or, by require_memory(), has too little memory.
class Runner {
 public:
  // Runs one contraction at a time on one thread, as the prediction is for one core, unless told
  // otherwise. Throws UsageError for several threads and several contractions, and for counters of
  // several contractions.
  enum class Counters { as_asked, always };  // without --counters as with --counters auto
  Runner(const Options& options, Context& context, int threads = 1, int copies = 1,
         Counters counters = Counters::as_asked);

  void require_memory(const Contraction& contraction) const;  // before a schedule is chosen
  void require_memory(const Result& result) const;            // with its schedule
  void add_run(Result& result);

 private:
  Repeat repeat_;
  int threads_, copies_;
  std::optional<Counting> counting_;
  Context& context_;
};

// Calls `work` for every workload of the command line, then prints. Interrupted, it prints what is
// complete and returns Exit::interrupted.
Exit for_each_workload(const Options& options, Context& context,
                       const std::function<Result(const Contraction&, const Machine&)>& work);

}  // namespace tcsim::cli
