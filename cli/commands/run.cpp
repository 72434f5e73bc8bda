#include <fmt/format.h>

#include <algorithm>

#include "cli/request.hpp"
#include "cli/values.hpp"
#include "cli/work.hpp"
#include "core/error.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/plan/parts.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* of_chains[] = {"fill",    "whole", "force",  "resume",
                                     "compare", "check", "device", "rehearse"};

// A chain on a machine with explicit levels is what fuse --run runs.
bool is_chain(const Options& options, Context& context) {
  const bool folder = options.count("folder") != 0;
  for (const char* name : of_chains) {
    if (folder || !options[name].as<bool>()) continue;
    throw UsageError(fmt::format("--{}", name), "belongs to a chain on explicit levels",
                     "add --folder FOLDER");
  }
  // Before anything is measured.
  if (is_host(options) || options.count("session") != 0) {
    if (!folder) return false;
  } else if (levels::has_explicit_levels(
                 named_machine(options["machine"].as<std::string>(), options, context))) {
    if (folder) return true;
    throw UnsupportedError(options["machine"].as<std::string>(),
                           "its levels are explicit, so a chain runs there, of tensors in files",
                           "name their folder with --folder, or take a machine with caches");
  }
  if (folder) {
    throw UsageError("--folder", "belongs to a machine with explicit levels",
                     "take one such as gpu-cluster-node, or see tcsim fuse --run");
  }
  return false;
}

Exit run_as_chain(const Options& options, Context& context) {
  std::vector<std::string> args = arguments(options);
  args.insert(args.begin(), "fuse");
  const auto with = [&](std::vector<std::string> more) {
    args.insert(args.end(), more.begin(), more.end());
  };
  with({"--run", options["folder"].as<std::string>(), "--no-whatif"});
  for (const char* name : {"machine", "size", "type", "format", "accounting"}) {
    if (options.count(name) != 0) {
      with({fmt::format("--{}", name), options[name].as<std::string>()});
    }
  }
  with({"--threads", std::to_string(options["threads"].as<int>())});
  with({"--seed", std::to_string(options["seed"].as<std::uint64_t>())});
  if (options.count("set") != 0) {
    for (const std::string& knob : options["set"].as<std::vector<std::string>>()) {
      with({"--set", knob});
    }
  }
  for (const char* name : of_chains) {
    if (options[name].as<bool>()) with({fmt::format("--{}", name)});
  }
  if (context.quiet) with({"--quiet"});
  return main(args, context);
}

}  // namespace

const Command& run_command() {
  static const Command command{
      "run",
      "WORKLOAD",
      "execute it on this machine: check, GFLOPS, cache lines counted",
      "tcsim run ij-ik-kj --size i=960,j=960,k=960 --counters",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        declare_run(o);
        declare_untuned(o);
        o.add_options()(
            "batched", whole(1, 1),
            "run so many independent contractions at a time, each on a core of its own")(
            "folder", po::value<std::string>(),
            "of a CHAIN on a machine with explicit levels, which runs as by tcsim fuse --run: "
            "where "
            "its tensors' files are");
        for (const char* name : of_chains) {
          o.add_options()(name, po::bool_switch(), "with --folder: as of tcsim fuse --run");
        }
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        if (is_chain(options, context)) return run_as_chain(options, context);
        const int threads = options["threads"].as<int>();
        const int copies = options["batched"].as<int>();
        Runner runner(options, context, threads, copies);
        return for_each_workload(options, context, [&](const Contraction& c, const Machine& m) {
          runner.require_memory(c);
          // What is predicted and chosen is for one core of as many, which share the outer levels.
          Machine shared = m;
          shared.core.cores = std::max({m.core.cores, threads_worth(c, threads), copies});
          // Of a batch each has its core, but they share what is outside it.
          std::optional<Tuned> tuned;
          if (copies == 1) tuned = tuned_schedule(options, c, threads, context);
          Result r = predicted_result("run", options, c, shared, context, std::move(tuned));
          if (copies > 1) runner.require_memory(r);
          runner.add_run(r);
          return r;
        });
      }};
  return command;
}

}  // namespace tcsim::cli
