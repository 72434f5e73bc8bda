#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/explicit_levels.hpp"
#include "bench/kernels.hpp"
#include "cli/kernel_result.hpp"
#include "cli/level_probe.hpp"
#include "cli/out_file.hpp"
#include "cli/probe_result.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "kernels/contract.hpp"
#include "microbench/disk.hpp"
#include "microbench/host.hpp"
#include "microbench/keep.hpp"
#include "microbench/probe.hpp"
#include "processes/processes.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

constexpr int quick_kernel_repetitions = 2;

// Writes what was measured to --out, otherwise to where it is kept, and says where: it is what
// later commands use. `note` stands behind the name of the file that is kept.
void save(const std::string& text, const std::string& kept, const std::string& what,
          const std::string& note, std::optional<OutFile>& out, const Options& options,
          Context& context) {
  std::string file = kept;
  if (out) {
    out->write(text);
    file = options["out"].as<std::string>();
  } else if (!keep(text, kept)) {
    context.err << "note: nothing was kept, since "
                << (kept.empty() ? "there is no home folder" : kept + " cannot be written")
                << "; name a file with --out\n";
    return;
  }
  if (context.quiet) return;
  context.err << fmt::format("{}: {}{}\n", what, file, out ? "" : note);
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

Exit probe_kernels(std::optional<OutFile>& out, const Options& options, Context& context) {
  bench::KernelOptions how;
  if (options["quick"].as<bool>()) how.repetitions = quick_kernel_repetitions;
  how.stop = context.stop;
  const KernelCatalog catalog = [&] {
    Progress progress(context, "kernels");
    how.progress = [&](const std::string& what, double share) { progress.show(what, share); };
    return bench::measure_kernels(how, version);
  }();
  print(catalog, {}, "probe --kernels", format(options), context.out);
  save(to_toml(catalog), bench::kernel_catalog_file().string(), "catalog of kernels",
       " (tcsim list kernels)", out, options, context);
  return Exit::done;
}

Exit probe_machine(std::optional<OutFile>& out, const Options& options, Context& context) {
  ProbeOptions probe;
  probe.quick = options["quick"].as<bool>();
  probe.stop = context.stop;
  probe.refine = refine_with_kernels;
  const Probed probed = [&] {
    Progress progress(context, "measuring this machine");
    probe.progress = [&](const std::string& what, double share) { progress.show(what, share); };
    return probe_host(probe);
  }();
  print(probed, format(options), context.out);
  save(to_toml(probed.machine), host_file().string(), "machine file", " (--machine host)", out,
       options, context);
  name_unstable_levels(probed, context);
  return Exit::done;
}

Exit probe_disk_of(std::optional<OutFile>& out, const Options& options, Context& context) {
  DiskProbeOptions how;
  if (options["quick"].as<bool>()) {
    how.file = Bytes(how.file.value() / 4);
    how.repetitions = 3;
  }
  how.stop = context.stop;
  const DiskFigures disk = [&] {
    Progress progress(context, "measuring the disk");
    how.progress = [&](const std::string& what, double share) {
      progress.show("measuring the disk: " + what, share);
    };
    return probe_disk(options["disk"].as<std::string>(), how);
  }();
  const Format form = format(options);
  if (form == Format::json) {
    context.out << json_text({{"schema", 1},
                              {"command", "probe --disk"},
                              {"tcsim_version", version},
                              {"folder", disk.folder},
                              {"direct", disk.direct},
                              {"read_bytes_per_second", disk.read.value()},
                              {"write_bytes_per_second", disk.write.value()},
                              {"transfer_seconds", disk.transfer.value()},
                              {"read_spread", disk.read_spread},
                              {"write_spread", disk.write_spread},
                              {"transfer_spread", disk.transfer_spread}})
                << "\n";
  } else if (form == Format::csv) {
    context.out << "folder,direct,read_bytes_per_second,write_bytes_per_second,transfer_seconds\n"
                << fmt::format("{},{},{},{},{}\n", csv_cell(disk.folder), disk.direct,
                               disk.read.value(), disk.write.value(), disk.transfer.value());
  } else {
    context.out << fmt::format(
        "disk of {}, {}\n", visible(disk.folder),
        disk.direct ? "past the page cache (O_DIRECT)"
                    : "through the page cache, which this file system insists on: figures may be "
                      "the memory's");
    context.out << aligned(
        {"", "median", "spread"},
        {{"reading blocks of 4 MiB", fmt::format("{:.4g} GB/s", disk.read.value() / 1e9),
          fmt::format("{:.1f} %", 100 * disk.read_spread)},
         {"writing them, to the disk", fmt::format("{:.4g} GB/s", disk.write.value() / 1e9),
          fmt::format("{:.1f} %", 100 * disk.write_spread)},
         {"reading 4 KiB somewhere", to_display(disk.transfer),
          fmt::format("{:.1f} %", 100 * disk.transfer_spread)}},
        "  ");
  }
  save(to_toml(disk), disk_file().string(), "disk", " (tcsim fuse)", out, options, context);
  return Exit::done;
}

// Long enough for a program that goes on all night.
Seconds tuning_time(const Options& options) {
  const double seconds = options["tune-for"].as<double>();
  if (seconds >= 0 && seconds <= 86400) return Seconds(seconds);
  throw UsageError("--tune-for", fmt::format("{} is no time", seconds), "give seconds, 0 to 86400");
}

// The first of the processes that mpirun started speaks.
Exit probe_levels(const Options& options, Context& context) {
  const Processes& team = Processes::all();
  context.helper = team.rank() != 0;
  if (context.helper) context.quiet = true, context.terminal = false;
  std::optional<OutFile> out;
  bench::LevelProbeOptions how;
  how.folder = options["levels"].as<std::string>();
  if (how.folder.empty()) throw UsageError("--levels", "is empty", "name a folder on the disk");
  how.device = options["device"].as<bool>();
  if (how.device) {
    how.tune_anyhow = options.count("tune-for") != 0;
    if (how.tune_anyhow) {
      how.tune = tuning_time(options);
    } else if (!options["quick"].as<bool>()) {
      how.tune = Seconds(60);
    }
  } else if (options.count("tune-for") != 0) {
    throw UsageError("--tune-for", "is for a device", "add --device, or leave it out");
  }
  how.stop = context.stop;
  if (options["quick"].as<bool>()) {
    how.repetitions = 3;
    how.file = Bytes(how.file.value() / 4);
    how.part = Bytes(how.part.value() / 4);
    how.matrix /= 2;
  }
  bool not_kept = false;
  how.found = [&](const std::string& device, const bench::DeviceTuning& t) {
    not_kept = !bench::keep_device(bench::devices_file(), {device, t.element, t.sizes});
  };
  try {
    if (how.device) {
      team.on_each([&] { how.tuned = bench::load_devices(bench::devices_file()); });
    }
    team.on_first([&] {
      if (options.count("out") == 0) return;
      const std::string file = options["out"].as<std::string>();
      if (std::filesystem::is_regular_file(file) && !options["force"].as<bool>()) {
        throw UsageError("--out", "'" + file + "' is there already",
                         "name another file, or add --force to replace it");
      }
      out.emplace(file);
    });
    const bench::MeasuredLevels measured = [&] {
      Progress progress(context, "measuring levels");
      how.progress = [&](const std::string& what, double share) {
        progress.show("measuring " + what, share);
      };
      return bench::measure_levels(team, how);
    }();
    if (context.helper) return Exit::done;
    const Machine machine = bench::machine_of(measured, assumed_machine());
    if (not_kept && !context.quiet) {
      context.err << fmt::format("CLBlast's sizes are not kept: {} cannot be written\n",
                                 bench::devices_file().string());
    }
    print(measured, machine, format(options), context.out);
    save(to_toml(machine), levels_file().string(), "machine file",
         " (tcsim fuse CHAIN --machine " + levels_file().string() + ")", out, options, context);
    return Exit::done;
  } catch (const Error&) {
    if (!context.helper) throw;
    return Exit::input;  // the first process says what
  }
}

Exit probe(const Options& options, Context& context) {
  if (options.count("levels") != 0) return probe_levels(options, context);
  if (options["device"].as<bool>()) {
    throw UsageError("--device", "is one of the explicit levels", "add --levels FOLDER");
  }
  if (options.count("tune-for") != 0) {
    throw UsageError("--tune-for", "is for a device",
                     "add --levels FOLDER --device, or leave it out");
  }
  if (options["force"].as<bool>()) {
    throw UsageError("--force", "is for explicit levels", "add --levels FOLDER, or leave it out");
  }
  std::optional<OutFile> out;  // found to be writable before the work
  if (options.count("out") != 0) out.emplace(options["out"].as<std::string>());
  if (options.count("disk") != 0) return probe_disk_of(out, options, context);
  return options["kernels"].as<bool>() ? probe_kernels(out, options, context)
                                       : probe_machine(out, options, context);
}

}  // namespace

const Command& probe_command() {
  static const Command command{
      "probe",
      "",
      "measure this machine into a machine file, or its microkernels, a disk, explicit levels",
      "tcsim probe --quick --out here.toml",
      [](po::options_description& o) {
        o.add_options()("quick", po::bool_switch(),
                        "under 15 s in place of under 5 minutes: fewer repetitions, working sets "
                        "and core counts")(
            "kernels", po::bool_switch(),
            "the microkernels instead, each by itself, into the catalog that 'tcsim list kernels' "
            "shows; under a minute")("disk", po::value<std::string>(),
                                     "the disk of this folder instead, for 'tcsim fuse': a file of "
                                     "256 MiB is written and read "
                                     "there")(
            "levels", po::value<std::string>(),
            "the explicit levels instead, for chains on them: the disk of this folder, what the "
            "processes share that mpirun started, products of matrices; a file of 256 MiB is "
            "written and read there")("device", po::bool_switch(),
                                      "there: a device of OpenCL as the innermost level")(
            "tune-for", po::value<double>()->value_name("SECONDS"),
            "with --device: look so long for CLBlast's sizes on it, which are kept; 60 where none "
            "are kept yet, with --quick not at all")(
            "out", po::value<std::string>(),
            "the machine file; otherwise the one that --machine host reads. With --kernels "
            "the catalog's, with --disk the disk's, with --levels theirs")(
            "force", po::bool_switch(), "with --levels: replace the file of --out");
        declare_format(o);
      },
      probe,
      0,
      true};
  return command;
}

}  // namespace tcsim::cli
