// sweep: a study of many workloads, machines and knobs, into a folder of results.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "cli/describe.hpp"
#include "cli/request.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/study/study.hpp"
#include "core/units/text.hpp"
#include "sweep/findings.hpp"
#include "sweep/ranks.hpp"
#include "sweep/sweep.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace {

Study read_study(const fs::path& file, const Options& options, Context& context) {
  const std::string text = read_file(file, "give the path of a study's file");
  StudySources sources = shipped_sources(file);
  const auto shipped = sources.machine;
  sources.machine = [&, shipped](const std::string& name) {
    return name == "host" ? named_machine(name, options, context) : shipped(name);
  };
  return parse_study(text, file.string(), sources, context.stop);
}

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 200000) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

std::string grouped(std::int64_t n) {
  std::string text = fmt::format("{}", n);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<std::size_t>(i), " ");
  }
  return text;
}

void print_plan(const Study& study, std::ostream& out) {
  out << fmt::format("study {}: {} workload{}, {} machine{}, {} knob{}, sampling {}\n", study.name,
                     study.workloads.size(), study.workloads.size() == 1 ? "" : "s",
                     study.machines.size(), study.machines.size() == 1 ? "" : "s",
                     study.knobs.size(), study.knobs.size() == 1 ? "" : "s",
                     to_text(study.sampling));
  for (const StudyMachine& m : study.machines) {
    out << warning_line(m.machine);
    for (const Axis& a : m.axes) {
      out << fmt::format("  {:<13} {:<21} {} to {}", m.machine.name, a.knob.name,
                         display(a.knob, a.low), display(a.knob, a.high));
      if (!a.values.empty()) out << fmt::format(", {} values", a.values.size());
      out << "\n";
    }
  }
  out << fmt::format("  {} designs with the machines as they are, {} points (before constraints)\n",
                     grouped(study.design_count()), grouped(study.point_count()));
}

Exit dry_run(const Study& study, int threads, Context& context) {
  print_plan(study, context.out);
  if (study.compute == Compute::run) {
    context.out << "  runs on this machine; their time is not estimated\n";
    return Exit::done;
  }
  const SweepEstimate estimate = estimated_seconds(study, context.stop);
  context.out << fmt::format("  {} {} on {} thread{}, by trying {}\n",
                             estimate.at_least ? "more than" : "about",
                             duration(estimate.seconds / threads), threads, threads == 1 ? "" : "s",
                             estimate.at_least ? "one" : "some");
  return Exit::done;
}

void print_outcome(const Study& study, const SweepOutcome& o, const fs::path& folder,
                   std::ostream& out) {
  out << fmt::format("study {}: {} designs, {} points in {}{}\n", study.name,
                     grouped(o.totals.designs), grouped(o.totals.points), duration(o.seconds),
                     o.resumed > 0 ? fmt::format(" ({} were there)", grouped(o.resumed)) : "");
  out << o.totals.verdict << "\n";
  for (const StudyMachine& m : study.machines) out << warning_line(m.machine);
  out << fmt::format("results in {}: report.html, results.csv, results.jsonl, results.sqlite\n",
                     folder.string());
}

Exit run_sweep(const Options& options, Context& context) {
  Ranks& ranks = Ranks::all();
  const auto given = arguments(options);
  if (given.empty()) {
    throw UsageError("", "a STUDY is missing",
                     "give its file, such as data/studies/l3-growth.toml");
  }
  const fs::path file = given[0];
  if (ranks.rank() != 0) context.quiet = true;
  const Study study = read_study(file, options, context);
  int threads = options["threads"].as<int>();
  if (threads == 0) {
    // Ranks of one machine share its cores: one thread each.
    threads = ranks.size() > 1 ? 1 : static_cast<int>(std::thread::hardware_concurrency());
  }
  threads = std::max(threads, 1);
  if (options["dry-run"].as<bool>()) {
    return ranks.rank() == 0 ? dry_run(study, threads * ranks.size(), context) : Exit::done;
  }
  SweepOptions how;
  how.folder = options.count("out") != 0 ? fs::path(options["out"].as<std::string>())
                                         : fs::path(file.stem().string() + "-results");
  how.resume = options["resume"].as<bool>();
  how.threads = threads;
  how.version = version;
  how.stop = context.stop;
  SweepOutcome outcome;
  {
    Progress line(context, study.name);
    how.progress = [&](const SweepProgress& p) {
      if (p.phase == SweepProgress::Phase::writing) return line.show("writing results", p.share);
      std::string text = fmt::format("{}: {} points, {:.0f}/s", study.name, grouped(p.points),
                                     p.points_per_second);
      if (!p.best_design.empty()) {
        text +=
            fmt::format(", best {} ({})", objective_text(study.objective, p.best), p.best_design);
      }
      line.show(text, p.share);
    };
    outcome = sweep(study, how);
  }
  if (ranks.rank() != 0) return outcome.complete ? Exit::done : Exit::interrupted;
  if (!outcome.complete) {
    context.err << fmt::format(
        "tcsim: interrupted; {} of at most {} points are kept in {}: go on with --resume\n",
        grouped(outcome.points), grouped(study.point_count()), how.folder.string());
    return Exit::interrupted;
  }
  if (outcome.already) {
    context.out << fmt::format("study {}: complete already, in {}\n", study.name,
                               how.folder.string());
    return Exit::done;
  }
  print_outcome(study, outcome, how.folder, context.out);
  return Exit::done;
}

// Of the ranks that mpirun started, one speaks.
Exit run_quietly(const Options& options, Context& context) {
  try {
    return run_sweep(options, context);
  } catch (const Error&) {
    if (Ranks::all().rank() == 0) throw;
    return Exit::input;
  }
}

}  // namespace

const Command& sweep_command() {
  static const Command command{
      "sweep",
      "STUDY",
      "a study: many workloads, machines and knobs, into a folder; resumable; over MPI",
      "tcsim sweep data/studies/l3-growth.toml --dry-run",
      [](po::options_description& o) {
        o.add_options()("out", po::value<std::string>(),
                        "the results' folder; otherwise the study's name with -results")(
            "resume", po::bool_switch(), "go on with what the folder has")(
            "dry-run", po::bool_switch(),
            "check the study, and say how many points it has and how long they may take")(
            "threads", whole(0, 0),
            "threads of each process; 0: all (with mpirun: one); results do not depend on it");
      },
      run_quietly,
      1,
      true};
  return command;
}

}  // namespace tcsim::cli
