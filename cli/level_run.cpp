#include "cli/level_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/tune_device.hpp"
#include "chains/journal.hpp"
#include "chains/run_chain.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "kernels/contract.hpp"

namespace tcsim::cli {

using levels::Counts;
using levels::Hierarchy;
using nlohmann::ordered_json;

void require_level_run(const Options& options, const std::string& named, std::size_t chains) {
  if (options.count("run") != 0) {
    if (chains <= 1) return;
    throw UsageError("--run", fmt::format("these are {} chains", chains),
                     fmt::format("say which, such as {}:1", named));
  }
  for (const char* option :
       {"fill", "whole", "force", "resume", "compare", "check", "device", "rehearse"}) {
    if (!options[option].as<bool>()) continue;
    throw UsageError(fmt::format("--{}", option), "belongs to a run", "add --run FOLDER");
  }
}

Machine machine_of_team(const Machine& machine, const Options& options, const Processes& team) {
  if (options.count("set") != 0) {
    for (const std::string& knob : options["set"].as<std::vector<std::string>>()) {
      if (knob.find(".processes") != std::string::npos) return machine;
    }
  }
  // The outermost level inside the disk, which processes share.
  const Hierarchy h = levels::hierarchy(machine, Bytes(8));
  const std::string& shared = h.level(h.links() - 1).name;
  return override_knob(machine, fmt::format("{}.processes={}", shared, team.size())).machine;
}

std::vector<const LevelWay*> LevelAnswer::all() const {
  std::vector<const LevelWay*> all;
  for (const LevelWay& w : ways) all.push_back(&w);
  if (other) all.push_back(&*other);
  return all;
}

namespace {

chains::LevelRunOptions run_options(const Options& options) {
  chains::LevelRunOptions run;
  run.folder = options["run"].as<std::string>();
  run.fill = options["fill"].as<bool>();
  run.force = options["force"].as<bool>();
  run.resume = options["resume"].as<bool>();
  run.numbers = {options["seed"].as<std::uint64_t>(), options["whole"].as<bool>()};
  run.threads = options["threads"].as<int>();
  run.device = options["device"].as<bool>();
  return run;
}

// The first process's number, for all.
std::int64_t of_first(const std::function<std::int64_t()>& number) {
  const Processes& team = Processes::all();
  std::vector<std::int64_t> mine{0};
  team.on_first([&] { mine.front() = number(); });
  return team.gathered(mine).front().front();
}

// Of the run that ended, where that is no run of the optimum: a rehearsal chose it. Nothing where
// it is none that can be found again.
std::optional<levels::LevelPlan> plan_that_ended(const Options& options, const LevelAnswer& a) {
  const auto is_of = [&](const levels::LevelPlan& plan) {
    return chains::Journal(options["run"].as<std::string>(),
                           to_text(a.tree, a.hierarchy, plan.node))
        .is_of_schedule();
  };
  const levels::LevelPlan& optimum = a.ways.front().plan;
  if (of_first([&] { return is_of(optimum) ? 1 : 0; }) != 0) return {};
  const std::vector<levels::LevelPlan> rivals =
      levels::rivals(a.tree, a.hierarchy, optimum, chains::RehearseOptions().within);
  const std::int64_t found =
      of_first([&] { return std::ranges::find_if(rivals, is_of) - rivals.begin(); });
  if (found == std::ssize(rivals)) return {};
  return rivals[static_cast<std::size_t>(found)];
}

}  // namespace

std::optional<levels::LevelPlan> other_plan(const Options& options, LevelAnswer& a,
                                            Context& context) {
  if (options["resume"].as<bool>()) return plan_that_ended(options, a);
  if (!options["rehearse"].as<bool>()) return {};
  if (options["device"].as<bool>()) {
    throw UsageError("--rehearse", "is of the host, and a device is to compute",
                     "leave one of them out");
  }
  const Processes& team = Processes::all();
  const levels::LevelPlan& optimum = a.ways.front().plan;
  chains::check_processes(a.hierarchy, team.size());
  team.on_first(
      [&] { chains::check_folder(a.tree, a.hierarchy, optimum.node, run_options(options)); });
  Progress progress(context, a.tree.name);
  chains::RehearseOptions how;
  how.threads = options["threads"].as<int>();
  how.progress = [&](double share) { progress.show(a.tree.name + ": rehearsing", share); };
  how.stop = context.stop;
  a.rehearsed = chains::rehearse(a.tree, a.hierarchy, optimum, assumed_machine(), team, how);
  const chains::Rehearsed& best =
      *std::ranges::min_element(a.rehearsed, {}, &chains::Rehearsed::time);
  if (best.plan.node == optimum.node) return {};
  return best.plan;
}

void print_rehearsal(const LevelAnswer& a, std::ostream& out) {
  if (a.rehearsed.empty()) return;
  if (a.rehearsed.size() == 1) {
    out << "\nnothing to choose from in a rehearsal: no other way comes near\n";
    return;
  }
  Rows rows;
  for (const chains::Rehearsed& r : a.rehearsed) {
    rows.push_back({levels::homes_text(a.tree, a.hierarchy, r.plan),
                    to_display(r.plan.times.arithmetic), to_display(r.arithmetic),
                    to_display(r.plan.time()), to_display(r.time()),
                    r.plan.node == a.chosen().plan.node ? "runs" : ""});
  }
  out << "\nrehearsed: tiles of each way, tried here\n"
      << aligned({"intermediates", "arithmetic predicted", "tried", "in all predicted",
                  "with what was tried", ""},
                 rows, "  ");
}

void run_level_answer(const Options& options, LevelAnswer& a, Context& context) {
  const Processes& team = Processes::all();
  const Machine here = assumed_machine();
  Progress progress(context, a.tree.name);
  chains::LevelRunOptions run = run_options(options);
  if (run.device) {
    team.on_each([&] { run.tuned = bench::load_devices(bench::devices_file()); });
  }
  run.progress = [&](double share) { progress.show(a.tree.name + ": running", share); };
  run.stop = context.stop;
  LevelWay& chosen = a.chosen();
  if (options["compare"].as<bool>()) {
    if (a.ways.size() < 3) {
      throw UnsupportedError("--compare", "the chain does not fit unfused", "leave it out");
    }
    LevelWay& apart = a.ways.back();
    run.also = &chosen.plan.node;
    apart.ran = chains::run_levels(a.tree, a.hierarchy, apart.plan.node, here, team, run);
    run.also = nullptr;
    run.force = true;  // the results of this one
    run.resume = false;
  }
  chosen.ran = chains::run_levels(a.tree, a.hierarchy, chosen.plan.node, here, team, run);
  if (!options["check"].as<bool>()) return;
  double error = 0;
  team.on_first([&] { error = chains::check_chain(a.tree, run.folder, run.numbers.seed); });
  a.error = error;
}

void print_level_runs(const LevelAnswer& a, std::ostream& out) {
  if (!a.chosen().ran) return;
  const Hierarchy& h = a.hierarchy;
  const auto bytes = [](const Counts& counts, int l) {
    return to_display(Bytes(counts.links[static_cast<std::size_t>(l)].sum().bytes()));
  };
  Rows rows;
  std::string differing;
  for (const LevelWay* way : a.all()) {
    const LevelWay& w = *way;
    if (!w.ran) continue;
    const Counts& predicted = w.plan.counts;
    const Counts& measured = w.ran->counts;
    const std::string differs = chains::differences(a.tree, h, predicted, measured);
    if (w.ran->done_before == 0 && !differs.empty())
      differing += "  " + w.name + ": " + differs + "\n";
    for (int l = h.links() - 1; l >= 0; --l) {
      const auto at = static_cast<std::size_t>(l);
      rows.push_back({l == h.links() - 1 ? w.name : "", h.link(l), bytes(predicted, l),
                      w.simulated ? bytes(*w.simulated, l) : "not simulated", bytes(measured, l),
                      std::to_string(measured.links[at].sum().transfers()),
                      to_display(Bytes(measured.links[at].busiest_sum().bytes())),
                      to_display(w.ran->links[at]),
                      fmt::format("{} in {}", to_display(measured.high_water[at]), h.level(l).name),
                      w.ran->done_before > 0 ? "the rest"
                      : predicted.links[at] == measured.links[at] &&
                              predicted.high_water[at] == measured.high_water[at]
                          ? "equal"
                          : "DIFFERS"});
    }
    rows.push_back({"", "arithmetic", "", "", "", "", "", to_display(w.ran->arithmetic), "", ""});
    rows.push_back({"", "in all", "", "", "", "", "", to_display(w.ran->total), "", ""});
  }
  out << fmt::format("\nrun by {} process{}\n", h.instances(0), h.instances(0) == 1 ? "" : "es")
      << aligned({"program", "link", "predicted", "simulated", "measured", "transfers",
                  "the busiest", "time", "held", "counted"},
                 rows, "  ")
      << differing;
  const LevelWay& chosen = a.chosen();
  const LevelWay& apart = a.ways.back();
  if (!chosen.ran->device.empty()) {
    out << fmt::format("  {} is in {}, through OpenCL and CLBlast\n", h.level(0).name,
                       visible(chosen.ran->device));
  } else if (!chosen.ran->no_device.empty()) {
    out << fmt::format("  the host computes: {}\n", visible(chosen.ran->no_device));
  }
  if (apart.ran && &apart != &chosen) {
    out << fmt::format("  unfused takes {:.2f} times as long",
                       apart.ran->total / chosen.ran->total);
    for (int l = h.links() - 1; l >= 0; --l) {
      const auto at = static_cast<std::size_t>(l);
      out << fmt::format(", {} {:.2f} times", h.link(l),
                         apart.ran->links[at] / chosen.ran->links[at]);
    }
    out << "\n";
  }
  const double moved = static_cast<double>(chosen.ran->counts.links.back().sum().bytes());
  if (const double chunks = static_cast<double>(chosen.ran->chunks.value());
      chunks > worth_telling * moved) {
    out << fmt::format(
        "  chunks of files do not fit its tiles: {} had to be read and written for {}\n",
        to_display(chosen.ran->chunks), to_display(Bytes(static_cast<std::int64_t>(moved))));
  }
  if (chosen.ran->done_before > 0) {
    out << fmt::format("  {} of {} parts were done before\n", chosen.ran->done_before,
                       chosen.ran->parts);
  }
  if (!a.error) return;
  out << fmt::format("  results {}: the worst error is {:.3g} of its bound\n",
                     *a.error <= 1 ? "are right" : "are WRONG", *a.error);
}

void add_level_run(const LevelWay& way, ordered_json& record) {
  if (!way.ran) return;
  for (std::size_t l = 0; l < record["levels"].size(); ++l) {
    const Counts::OfLink& link = way.ran->counts.links[l];
    ordered_json& one = record["levels"][l];
    one["measured_bytes"] = link.sum().bytes();
    one["measured_in_bytes"] = link.sum().in;
    one["measured_out_bytes"] = link.sum().out;
    one["measured_transfers"] = link.sum().transfers();
    one["measured_busiest_bytes"] = link.busiest_sum().bytes();
    one["measured_high_water_bytes"] = way.ran->counts.high_water[l].value();
    one["measured_seconds"] = way.ran->links[l].value();
  }
  record["measured_arithmetic_seconds"] = way.ran->arithmetic.value();
  record["measured_seconds"] = way.ran->total.value();
  record["measured_as_predicted"] = way.ran->counts == way.plan.counts;
}

ordered_json json_of_level_run(const LevelAnswer& a) {
  const chains::LevelRun& ran = *a.chosen().ran;
  ordered_json j{{"processes", a.hierarchy.instances(0)},
                 {"executor_bytes", ran.executor.value()},
                 {"chunk_bytes", ran.chunks.value()},
                 {"parts", ran.parts},
                 {"parts_done_before", ran.done_before},
                 {"device", nullptr},
                 {"no_device", nullptr},
                 {"worst_error", nullptr}};
  if (!ran.device.empty()) j["device"] = ran.device;
  if (!ran.no_device.empty()) j["no_device"] = ran.no_device;
  if (a.error) j["worst_error"] = *a.error;
  if (a.rehearsed.empty()) return j;
  for (const chains::Rehearsed& r : a.rehearsed) {
    j["rehearsed"].push_back({{"intermediates", levels::homes_text(a.tree, a.hierarchy, r.plan)},
                              {"predicted_arithmetic_seconds", r.plan.times.arithmetic.value()},
                              {"rehearsed_arithmetic_seconds", r.arithmetic.value()},
                              {"predicted_seconds", r.plan.time().value()},
                              {"rehearsed_seconds", r.time().value()},
                              {"runs", r.plan.node == a.chosen().plan.node}});
  }
  return j;
}

}  // namespace tcsim::cli
