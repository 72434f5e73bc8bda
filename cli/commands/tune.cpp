// tune: a faster schedule than the model's choice, found by running some.
#include "bench/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "bench/tuned_file.hpp"
#include "cli/describe.hpp"
#include "cli/request.hpp"
#include "cli/result.hpp"
#include "cli/table.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/machine/share.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "kernels/execute.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

using bench::Candidate;
using bench::Tuning;
using nlohmann::ordered_json;

// Of a table.
constexpr std::size_t shown_finalists = 8;
constexpr std::uint64_t seed = 1;

Seconds wall_clock() {
  return Seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// "2026-11-22", in the machine's time zone.
std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[sizeof "2026-11-22"];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

// Of one search.
struct Outcome {
  Contraction workload;
  Tuning tuning;
  Tuned entry;
  bool kept = false;
};

FlopsPerSecond rate(const Candidate& c) {
  const bench::Samples& of = c.finals.empty() ? c.heats : c.finals;
  return of.empty() ? FlopsPerSecond() : of.rate();
}

Tuned entry_of(const Contraction& c, const Tuning& tuning, int threads) {
  const Candidate& best = tuning.best();
  Tuned entry;
  entry.key = bench::tuned_key_here(c, threads);
  entry.schedule = to_line(best.schedule, c);
  entry.measured = rate(best);
  entry.predicted = FlopsPerSecond(c.flops() / best.predicted.value());
  entry.of_peak = best.speed();
  entry.ratio = tuning.ratio();
  entry.date = today();
  entry.tried = tuning.tried;
  return entry;
}

// What one search needs to know of the options.
struct How {
  Machine machine;
  Seconds budget;
  int threads = 1;
  bool keep = false;
};

// What was found earlier; nothing if it is no schedule of this contraction any more.
std::optional<Schedule> earlier_schedule(const Tuned* earlier, const Contraction& c,
                                         const Machine& machine) {
  if (earlier == nullptr) return {};
  try {
    Schedule schedule = parse_schedule(earlier->schedule, c, "");
    std::vector<std::string> levels;
    for (const Level& l : machine.levels) levels.push_back(l.name);
    check(schedule, c, levels, "");
    return schedule;
  } catch (const InputError&) {
    return {};
  }
}

// What is best is kept after every heat, if its result is right.
Outcome tune_one(const Contraction& c, const How& how, Context& context) {
  require_memory(c);
  const std::filesystem::path file = bench::tuned_file();
  std::optional<Tuned> earlier;
  if (how.keep) {
    const TunedSchedules all = bench::load_tuned(file);
    if (const Tuned* t = all.find(bench::tuned_key_here(c, how.threads))) earlier = *t;
  }
  Progress progress(context, c.name());
  bench::TuneOptions options;
  options.budget = how.budget;
  options.clock = wall_clock;
  options.threads = how.threads;
  options.stop = context.stop;
  options.progress = [&](double share, const std::string& what) {
    progress.show(c.name() + ": " + what, share);
  };
  options.began_with = earlier_schedule(earlier ? &*earlier : nullptr, c, how.machine);
  if (earlier) options.tried = earlier->tried;
  std::optional<std::string> before;
  if (options.began_with) before = earlier->schedule;
  bool kept = false;
  const auto keep = [&](const Tuning& tuning) {
    if (!how.keep || !tuning.best().correct) return;
    const Tuned entry = entry_of(c, tuning, how.threads);
    kept = bench::change_tuned(file, [&](TunedSchedules& all) { all.add(entry, before); });
    before = entry.schedule;
  };
  options.after_heat = keep;
  bench::ColdYardstick yardstick;
  const bench::Measure measure =
      bench::measured_here(c, yardstick, how.threads, seed, context.stop);
  Tuning tuning = bench::tune(c, how.machine, measure, options);
  keep(tuning);
  Tuned entry = entry_of(c, tuning, how.threads);
  return {c, std::move(tuning), std::move(entry), kept};
}

bool correct(const Tuning& tuning) { return std::ranges::all_of(tuning.ran, &Candidate::correct); }

void print_table(const Outcome& t, const How& how, std::ostream& out) {
  out << heading(
             t.workload, how.machine,
             fmt::format(", {} thread{}, cold caches", how.threads, how.threads == 1 ? "" : "s"))
      << "\n";
  Rows rows;
  for (const std::size_t i : t.tuning.finalists(shown_finalists)) {
    const Candidate& c = t.tuning.ran[i];
    rows.push_back({i == t.tuning.winner ? "*" : "", i == 0 ? "the model's choice" : c.difference,
                    fmt::format("{:.1f}", t.workload.flops() / c.predicted.value() / 1e9),
                    c.correct ? fmt::format("{:.1f}", rate(c).value() / 1e9) : "WRONG",
                    fmt::format("{:.1f}", 100 * c.speed()),
                    fmt::format("{}", c.heats.count() + c.finals.count())});
  }
  out << aligned(
      {"", "other than the model's choice", "predicted GFLOPS", "measured", "% of peak", "runs"},
      rows, "  ");
  out << fmt::format(
      "\n  {} candidates in all, {} in this call; the winner (*) is {:.3f} times the "
      "model's choice{}\n",
      t.tuning.tried.size(), t.tuning.ran.size(), t.tuning.ratio(),
      t.tuning.winner == 0 ? ", and is it" : "");
  if (t.tuning.ran.size() == 1 && !t.tuning.interrupted) {
    out << "  the budget was spent before another candidate ran: give it more (--budget)\n";
  }
  out << (t.kept     ? "  kept: 'tcsim run' and 'tcsim report' use it on this machine\n"
          : how.keep ? "  NOT kept: its file cannot be written\n"
                     : "  not kept: it is for another machine\n");
  out << "\nschedule\n" << to_text(t.tuning.best().schedule, t.workload);
  out.flush();
}

ordered_json run_json(const Outcome& t, const Candidate& c) {
  return {{"difference", c.difference},
          {"schedule", to_line(c.schedule, t.workload)},
          {"predicted_gflops", t.workload.flops() / c.predicted.value() / 1e9},
          {"gflops", rate(c).value() / 1e9},
          {"of_peak", c.speed()},
          {"runs", c.heats.count() + c.finals.count()},
          {"final", !c.finals.empty()},
          {"correct", c.correct}};
}

void print_json(const std::vector<Outcome>& all, const How& how, bool complete, std::ostream& out) {
  ordered_json j{{"schema", results_schema},
                 {"command", "tune"},
                 {"tcsim_version", version},
                 {"machine", {{"name", how.machine.name}, {"hash", content_hash(how.machine)}}},
                 {"budget_seconds", how.budget.value()},
                 {"threads", how.threads},
                 {"complete", complete},
                 {"workloads", ordered_json::array()}};
  for (const Outcome& t : all) {
    ordered_json one{{"workload", json_of(t.workload)},
                     {"schedule", t.entry.schedule},
                     {"ratio", t.tuning.ratio()},
                     {"candidates", t.tuning.tried.size()},
                     {"kept", t.kept},
                     {"ran", ordered_json::array()}};
    for (const std::size_t i : t.tuning.finalists(t.tuning.ran.size())) {
      one["ran"].push_back(run_json(t, t.tuning.ran[i]));
    }
    j["workloads"].push_back(std::move(one));
  }
  out << json_text(j) << "\n";
}

void print_csv(const std::vector<Outcome>& all, const How& how, std::ostream& out) {
  out << csv_line({"schema", "command", "tcsim_version", "machine", "workload", "label", "sizes",
                   "type", "threads", "gflops", "predicted_gflops", "of_peak", "ratio",
                   "candidates", "kept", "schedule"});
  for (const Outcome& t : all) {
    out << csv_line({fmt::format("{}", results_schema), "tune", version, how.machine.name,
                     t.workload.name(), t.workload.label(), t.workload.sizes(),
                     to_text(t.workload.type()), fmt::format("{}", how.threads),
                     csv_number(t.entry.measured.value() / 1e9),
                     csv_number(t.entry.predicted.value() / 1e9), csv_number(t.entry.of_peak),
                     csv_number(t.entry.ratio), fmt::format("{}", t.tuning.tried.size()),
                     t.kept ? "true" : "false", t.entry.schedule});
  }
}

Exit forget(const Options& options, Context& context) {
  const std::filesystem::path file = bench::tuned_file();
  const auto given = arguments(options);
  if (!given.empty() && given[0] == "all") {
    context.out << (bench::forget_all_tuned(file) ? "all tuned schedules are forgotten\n"
                                                  : "there were no tuned schedules\n");
    return Exit::done;
  }
  const std::vector<Contraction> which = workloads(options);
  std::size_t count = 0;
  const auto erase = [&](TunedSchedules& all) {
    for (const Contraction& c : which) count += all.forget(c);
  };
  TunedSchedules now = bench::load_tuned(file);
  erase(now);
  if (count > 0) {
    count = 0;
    if (!bench::change_tuned(file, erase)) {
      throw UsageError(file.string(), "the file cannot be written", "make its folder writable");
    }
  }
  context.out << fmt::format("{} tuned schedule{} forgotten\n", count,
                             count == 1 ? " is" : "s are");
  return Exit::done;
}

Seconds budget(const Options& options) {
  try {
    return parse_seconds(options["budget"].as<std::string>());
  } catch (const UsageError& e) {
    throw UsageError("--budget", fmt::format("{}: {}", e.place(), e.problem()), e.mend());
  }
}

Exit run_tune(const Options& options, Context& context) {
  if (options["forget"].as<bool>()) return forget(options, context);
  const Seconds time = budget(options);
  const Format form = format(options);
  const std::vector<Contraction> all = workloads(options);
  const int threads = options["threads"].as<int>();
  const bool is_plain_host =
      is_host(options) && options.count("set") == 0 && options.count("accounting") == 0;
  How how{machine(options, context), time, threads, is_plain_host};
  how.machine.core.cores = std::max(how.machine.core.cores, threads);
  std::vector<Outcome> done;
  Exit code = Exit::done;
  bool complete = true;
  try {
    for (const Contraction& c : all) {
      done.push_back(tune_one(c, how, context));
      if (!correct(done.back().tuning)) code = Exit::no;
      if (form == Format::table) {
        if (&c != &all.front()) context.out << "\n";
        print_table(done.back(), how, context.out);
      }
      if (done.back().tuning.interrupted) throw Interrupted();
    }
  } catch (const Interrupted&) {
    complete = false;
    const bool partly = !done.empty() && done.back().tuning.interrupted;
    context.err << fmt::format("tcsim: interrupted after {} of {} workloads{}\n",
                               done.size() - (partly ? 1 : 0), all.size(),
                               partly ? "; the best so far is what is printed" : "");
    code = Exit::interrupted;
  }
  if (form == Format::json) print_json(done, how, complete, context.out);
  if (form == Format::csv) print_csv(done, how, context.out);
  return code;
}

}  // namespace

const Command& tune_command() {
  static const Command command{
      "tune",
      "WORKLOAD",
      "find a faster schedule than the model's choice by running candidates; run and report use it",
      "tcsim tune tccg:2 --budget 60s",
      [](po::options_description& o) {
        declare_workload(o);
        declare_machine(o);
        o.add_options()("budget", po::value<std::string>()->default_value("60s"),
                        "time for each workload, such as 60s or 5min; a later call goes on where "
                        "this one ended")(
            "forget", po::bool_switch(),
            "forget what was found for WORKLOAD, or for all of them: 'tune --forget all'");
        declare_output(o);
      },
      run_tune};
  return command;
}

}  // namespace tcsim::cli
