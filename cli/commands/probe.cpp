#include <fmt/format.h>

#include <optional>

#include "cli/out_file.hpp"
#include "cli/probe_result.hpp"
#include "cli/request.hpp"
#include "core/machine/toml.hpp"
#include "microbench/host.hpp"
#include "microbench/keep.hpp"
#include "microbench/probe.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

// Where the machine file went is said, since it is what later commands use.
void save(const Probed& probed, std::optional<OutFile>& out, const Options& options,
          Context& context) {
  const std::string kept = host_file().string();
  std::string file = kept;
  if (out) {
    out->write(to_toml(probed.machine));
    file = options["out"].as<std::string>();
  } else if (!keep(probed.machine, kept)) {
    context.err << "note: nothing was kept, since "
                << (kept.empty() ? "there is no home folder" : kept + " cannot be written")
                << "; name a file with --out\n";
    return;
  }
  if (context.quiet) return;
  context.err << fmt::format("machine file: {}{}\n", file, out ? "" : " (--machine host)");
}

void name_unstable_levels(const Probed& probed, Context& context) {
  std::string names;
  for (std::size_t l = 0; l < probed.figures.size(); ++l) {
    const bool bandwidth = probed.figures[l].unstable;
    if (!bandwidth && !probed.measured.latencies[l].unstable) continue;
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", probed.machine.levels[l].name,
                         bandwidth ? "" : " (its latency)");
  }
  if (names.empty() || context.quiet) return;
  context.err << fmt::format(
      "warning: unstable: {} (spread over 10 %); measure again on a machine that does less else\n",
      names);
}

Exit probe(const Options& options, Context& context) {
  const Format form = format(options);
  std::optional<OutFile> out;  // found to be writable before the work
  if (options.count("out") != 0) out.emplace(options["out"].as<std::string>());
  ProbeOptions probe;
  probe.quick = options["quick"].as<bool>();
  probe.stop = context.stop;
  probe.refine = refine_with_kernels;
  const Probed probed = [&] {
    Progress progress(context, "measuring this machine");
    probe.progress = [&](const std::string& what, double share) { progress.show(what, share); };
    return probe_host(probe);
  }();
  print(probed, form, context.out);
  save(probed, out, options, context);
  name_unstable_levels(probed, context);
  return Exit::done;
}

}  // namespace

const Command& probe_command() {
  static const Command command{
      "probe",
      "",
      "measure this machine into a machine file",
      "tcsim probe --quick --out here.toml",
      [](po::options_description& o) {
        o.add_options()("quick", po::bool_switch(),
                        "under 15 s in place of under 5 minutes: fewer repetitions, working sets "
                        "and core counts")(
            "out", po::value<std::string>(),
            "the machine file; otherwise the one that --machine host reads");
        declare_format(o);
      },
      probe,
      0,
      true};
  return command;
}

}  // namespace tcsim::cli
