#include "cli/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/describe.hpp"
#include "cli/result.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

const Contraction& workload_of(const Validation& v, const Validated& one) {
  return *std::ranges::find(v.workloads, one.workload, &Contraction::name);
}

std::string percent(double error) { return fmt::format("{:+.2f} %", 100 * error); }

// Source: chosen; a choice that near is as good as the best.
constexpr double near_best = 0.03;

// How many choices take at most near_best longer than the best of their neighbours.
std::size_t near_the_best(const Validation& v) {
  return static_cast<std::size_t>(std::ranges::count_if(
      v.beside, [](const auto& one) { return one.second.excess() <= near_best; }));
}

double worst_choice(const Validation& v) {
  double worst = 0;
  for (const auto& [workload, beside] : v.beside) worst = std::max(worst, beside.excess());
  return worst;
}

ordered_json neighbours_json(const Neighbourhood& n, const Contraction& c) {
  return {{"drawn", n.neighbours},
          {"simulated", n.simulated},
          {"chosen_seconds", n.chosen.value()},
          {"best_seconds", n.best.value()},
          {"best_schedule", to_line(n.schedule, c)}};
}

// null where it is infinite: JSON has no infinity.
ordered_json number_or_null(double x) {
  return std::isfinite(x) ? ordered_json(x) : ordered_json();
}

ordered_json comparison_json(const Compared& c) {
  return {{"predicted_bytes", c.predicted.value()},
          {"simulated_bytes", c.simulated.value()},
          {"error", number_or_null(c.error())}};
}

ordered_json link_json(const ValidatedLink& link, const Machine& machine) {
  ordered_json j{{"name", machine.level(link.level).name}, {"link", machine.link(link.level)}};
  j.update(comparison_json(link.all));
  j["reason"] = reason_text(link);
  j["by_tensor"] = ordered_json::object();
  for (TensorId t : all_tensors) {
    j["by_tensor"][to_text(t)] = comparison_json(link.by_tensor[t]);
  }
  if (link.tried.empty()) return j;
  j["tried"] = ordered_json::array();
  for (const Trial& t : link.tried) {
    j["tried"].push_back({{"without", to_text(t.cause)}, {"error", number_or_null(t.error)}});
  }
  return j;
}

void print_json(const Validation& v, std::ostream& out) {
  ordered_json j{{"schema", results_schema},
                 {"command", "validate"},
                 {"tcsim_version", version},
                 {"machine", {{"name", v.machine.name}, {"hash", content_hash(v.machine)}}},
                 {"accounting", json_of(v.machine.accounting)},
                 {"model", to_text(v.model)},
                 {"limit", v.limit},
                 {"complete", v.complete.size() == v.workloads.size()},
                 {"workloads", ordered_json::array()}};
  if (v.seed) j["seed"] = *v.seed;
  add_warnings(j, v.machine);
  for (const Validated& one : v.complete) {
    ordered_json w{{"workload", json_of(workload_of(v, one))},
                   {"schedule", to_line(one.schedule, workload_of(v, one))},
                   {"predicted_seconds", one.predicted.value()},
                   {"simulated_seconds", one.simulated.value()},
                   {"levels", ordered_json::array()}};
    for (const ValidatedLink& link : one.links) w["levels"].push_back(link_json(link, v.machine));
    if (const auto found = v.beside.find(one.workload); found != v.beside.end()) {
      w["neighbours"] = neighbours_json(found->second, workload_of(v, one));
    }
    j["workloads"].push_back(std::move(w));
  }
  const ValidationSummary s = summary(v.complete);
  j["summary"] = {{"links", s.links},
                  {"median", number_or_null(s.median)},
                  {"p90", number_or_null(s.p90)},
                  {"worst", number_or_null(s.worst)},
                  {"time_off_2_percent", s.time_off_2_percent},
                  {"time_above_2_percent", s.time_above_2_percent},
                  {"passed", v.passed()}};
  if (v.neighbours > 0) {
    j["summary"]["neighbours"] = {{"choices", v.beside.size()},
                                  {"near_best", near_the_best(v)},
                                  {"near", near_best},
                                  {"worst", worst_choice(v)}};
  }
  out << json_text(j) << "\n";
}

void print_csv(const Validation& v, std::ostream& out) {
  out << csv_line({"schema", "command", "tcsim_version", "workload", "label", "sizes", "type",
                   "layout", "machine", "machine_hash", "accounting", "model", "level", "link",
                   "predicted_bytes", "simulated_bytes", "error", "reason", "schedule"});
  for (const Validated& one : v.complete) {
    const Contraction& c = workload_of(v, one);
    for (const ValidatedLink& link : one.links) {
      out << csv_line(
          {fmt::format("{}", results_schema), "validate", version, c.name(), c.label(), c.sizes(),
           to_text(c.type()), to_text(c.layout()), v.machine.name, content_hash(v.machine),
           v.machine.accounting.name, to_text(v.model), v.machine.level(link.level).name,
           v.machine.link(link.level), fmt::format("{}", link.all.predicted.value()),
           fmt::format("{}", link.all.simulated.value()), fmt::format("{}", link.all.error()),
           reason_text(link), to_line(one.schedule, c)});
    }
  }
}

void print_table(const Validation& v, std::ostream& out) {
  out << fmt::format("machine {}, accounting {}, model {}\n{}\n", v.machine.name,
                     to_words(v.machine.accounting), to_text(v.model), warning_line(v.machine));
  if (v.seed && !v.drawn && v.neighbours > 0) {
    out << fmt::format("neighbours drawn at random with seed {}\n", *v.seed);
  } else if (v.seed) {
    out << fmt::format("{} drawn at random, {} with seed {}\n",
                       v.drawn ? "contractions" : "schedules", v.workloads.size(), *v.seed);
  }
  out << fmt::format("  {:<20}{:<12}{:>14}{:>14}{:>12}  {}\n", "workload", "link", "predicted",
                     "simulated", "error", "reason");
  for (const Validated& one : v.complete) {
    std::string name = one.workload;
    if (v.drawn) {
      const Contraction& c = workload_of(v, one);
      out << fmt::format("  {} --size {} --layout {} --type {}\n", c.label(), c.sizes(),
                         to_text(c.layout()), to_text(c.type()));
      name.clear();
    }
    for (const ValidatedLink& link : one.links) {
      const std::string reason = reason_text(link);
      out << fmt::format("  {:<20}{:<12}{:>14}{:>14}{:>12}{}{}\n", name, v.machine.link(link.level),
                         to_display(link.all.predicted), to_display(link.all.simulated),
                         percent(link.all.error()), reason.empty() ? "" : "  ", reason);
      name.clear();
    }
  }
  const ValidationSummary s = summary(v.complete);
  if (s.links == 0) return;
  out << fmt::format(
      "\n  {} workload{}, {} links: median {:.2f} %, 90th percentile {:.2f} %, worst {:.2f} %: "
      "{}\n",
      v.complete.size(), v.complete.size() == 1 ? "" : "s", s.links, 100 * s.median, 100 * s.p90,
      100 * s.worst,
      v.passed() ? fmt::format("within {:g} %", 100 * v.limit)
                 : fmt::format("above the limit of {:g} %", 100 * v.limit));
  if (!v.beside.empty()) {
    out << fmt::format(
        "  simulated time of the choice within {:g} % of the best of {} random neighbours: {} of "
        "{}, "
        "worst {:.1f} %\n",
        100 * near_best, v.neighbours, near_the_best(v), v.beside.size(), 100 * worst_choice(v));
  }
  if (!v.drawn) return;
  const auto all = static_cast<double>(v.complete.size());
  out << fmt::format("  simulated time more than 2 % above the predicted one: {} ({:.1f} %)\n",
                     s.time_above_2_percent,
                     100 * static_cast<double>(s.time_above_2_percent) / all);
}

}  // namespace

bool Validation::passed() const { return summary(complete).worst <= limit; }

void print(const Validation& validation, Format format, std::ostream& out) {
  switch (format) {
    case Format::json:
      return print_json(validation, out);
    case Format::csv:
      return print_csv(validation, out);
    case Format::table:
      print_table(validation, out);
  }
}

}  // namespace tcsim::cli
