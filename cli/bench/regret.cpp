// bench regret: the model's choice against its neighbours on the real machine.
#include "bench/regret.hpp"

#include <fmt/format.h>

#include "cli/bench/bench.hpp"
#include "cli/describe.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "kernels/execute.hpp"

namespace tcsim::cli {

namespace {

using bench::Raced;
using bench::RegretCase;
using nlohmann::ordered_json;

struct RegretBench {
  Machine machine;
  bench::RegretOptions options;
  std::size_t asked = 0;
  std::vector<RegretCase> complete;
};

// Share of the peak of the pick and of the best found: from the second race if there was one.
double pick_of_peak(const RegretCase& c) {
  return c.pick_again ? c.pick_again->of_peak() : c.raced.front().samples.of_peak();
}
double best_of_peak(const RegretCase& c) {
  return c.winner_again ? std::max(c.winner_again->of_peak(), pick_of_peak(c)) : pick_of_peak(c);
}
// What the best found has other than the pick; "" where that is the best.
std::string difference(const RegretCase& c) {
  return c.regret() > 0 ? c.raced[c.winner].difference : "";
}

void print_table_head(const RegretBench& b, std::ostream& out) {
  out << fmt::format(
      "schedules for {}; one thread, cold caches; first race median of {}, second of {}\n\n"
      "  {:<9}{:<17}{:>8}{:>8}{:>10}{:>12}  {:<37}{}\n",
      b.machine.name, b.options.repetitions, b.options.second_race, "", "% of the peak:", "pick",
      "best", "regret %", "predicted %", "kernel", "what the best has other than the pick");
}

void print_table_row(const RegretCase& c, std::ostream& out) {
  const std::string what = difference(c);
  // What the model says of the best found: how much slower than its pick it should be.
  const std::string predicted =
      what.empty() ? "-" : fmt::format("{:+.1f}", 100 * c.predicted_loss());
  out << fmt::format("  {:<9}{:<17}{:>8.1f}{:>8.1f}{:>10.1f}{:>12}  {:<37}{}{}\n",
                     c.workload.name(), c.workload.label(), 100 * pick_of_peak(c),
                     100 * best_of_peak(c), 100 * c.regret(), predicted, c.raced.front().kernel,
                     what.empty() ? "-" : what, c.correct() ? "" : "  WRONG");
  out.flush();
}

void print_table_end(const RegretBench& b, std::ostream& out) {
  const bench::RegretSummary s = summary(b.complete);
  if (s.cases == 0) return;
  out << fmt::format(
      "\n  the pick is within {:.0f} % of the best found in {} of {} cases; regret {:.1f} % on "
      "average, {:.1f} % at worst\n",
      100 * bench::well_chosen, s.well_chosen, s.cases, 100 * s.mean, 100 * s.worst);
}

ordered_json case_json(const RegretCase& c) {
  ordered_json j{{"workload", json_of(c.workload)},
                 {"pick", to_line(c.raced.front().schedule, c.workload)},
                 {"pick_of_peak", pick_of_peak(c)},
                 {"best", to_line(c.raced[c.regret() > 0 ? c.winner : 0].schedule, c.workload)},
                 {"best_of_peak", best_of_peak(c)},
                 {"regret", c.regret()},
                 {"difference", difference(c)},
                 {"predicted_loss", c.regret() > 0 ? c.predicted_loss() : 0},
                 {"raced", ordered_json::array()}};
  for (const Raced& one : c.raced) {
    j["raced"].push_back({{"difference", one.difference},
                          {"schedule", to_line(one.schedule, c.workload)},
                          {"kernel", one.kernel},
                          {"predicted_seconds", one.predicted.value()},
                          {"gflops", one.samples.rate().value() / 1e9},
                          {"of_peak", one.samples.of_peak()},
                          {"correct", one.correct}});
  }
  return j;
}

void print_json(const RegretBench& b, std::ostream& out) {
  ordered_json j = bench_head("regret");
  j["machine"] = machine_json(b.machine);
  j["repetitions"] = b.options.repetitions;
  j["second_race"] = b.options.second_race;
  j["complete"] = b.complete.size() == b.asked;
  j["cases"] = ordered_json::array();
  for (const RegretCase& c : b.complete) j["cases"].push_back(case_json(c));
  const bench::RegretSummary s = summary(b.complete);
  j["summary"] = {{"cases", s.cases},
                  {"well_chosen", s.well_chosen},
                  {"limit", bench::well_chosen},
                  {"mean", s.mean},
                  {"worst", s.worst}};
  out << json_text(j) << "\n";
}

void print_csv(const RegretBench& b, std::ostream& out) {
  out << csv_line({"schema", "command", "tcsim_version", "machine", "workload", "label", "sizes",
                   "pick_of_peak", "best_of_peak", "regret", "difference", "predicted_loss",
                   "raced", "correct", "pick", "best"});
  for (const RegretCase& c : b.complete) {
    out << csv_line({bench_head("regret")["schema"].dump(), "bench regret", version, b.machine.name,
                     c.workload.name(), c.workload.label(), c.workload.sizes(),
                     fmt::format("{}", pick_of_peak(c)), fmt::format("{}", best_of_peak(c)),
                     fmt::format("{}", c.regret()), difference(c),
                     fmt::format("{}", c.regret() > 0 ? c.predicted_loss() : 0),
                     fmt::format("{}", c.raced.size()), c.correct() ? "true" : "false",
                     to_line(c.raced.front().schedule, c.workload),
                     to_line(c.raced[c.regret() > 0 ? c.winner : 0].schedule, c.workload)});
  }
}

}  // namespace

Exit bench_regret(const Options& options, Context& context) {
  const Format form = format(options);
  const std::vector<Contraction> cases = bench_cases(options);
  for (const Contraction& c : cases) require_memory(c);
  RegretBench b{machine(options, context), {}, cases.size(), {}};
  b.options.second_race = options["repetitions"].as<int>();
  b.options.repetitions = (b.options.second_race + 1) / 2;
  b.options.neighbours = static_cast<std::size_t>(options["neighbours"].as<int>());
  b.options.stop = context.stop;
  bench::ColdYardstick yardstick;
  if (form == Format::table) print_table_head(b, context.out);
  const Exit code = for_each_bench_case(
      cases, context,
      [&](const Contraction& c, const std::function<void(double)>& show) {
        b.options.progress = show;
        b.complete.push_back(bench_regret(c, b.machine, yardstick, b.options));
        return b.complete.back().correct();
      },
      [&] {
        if (form == Format::table) print_table_row(b.complete.back(), context.out);
      });
  if (form == Format::table) print_table_end(b, context.out);
  if (form == Format::json) print_json(b, context.out);
  if (form == Format::csv) print_csv(b, context.out);
  return code;
}

}  // namespace tcsim::cli
