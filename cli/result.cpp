#include "cli/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/advice.hpp"
#include "cli/counted.hpp"
#include "cli/describe.hpp"
#include "cli/simulation/views.hpp"
#include "cli/version.hpp"
#include "core/explore/uncertainty.hpp"
#include "core/io/json.hpp"
#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/optimize/exposed.hpp"
#include "core/optimize/search.hpp"
#include "core/schedule/registers.hpp"
#include "core/schedule/scheme.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

std::size_t link_count(const Result& r) { return r.machine.levels.size(); }

std::optional<Bytes> predicted(const Result& r, std::size_t link) {
  if (!r.prediction) return {};
  return r.prediction->traffic.links[link].counted(r.machine.accounting);
}

// In and out. The core's own are known exactly.
Estimate sampled_bytes(const Result& r, std::size_t link) {
  if (link == 0) return {static_cast<double>(r.sampled->core.value()), 0};
  return r.sampled->levels[link - 1].bytes;
}

std::optional<Bytes> simulated(const Result& r, std::size_t link) {
  if (!r.simulation) return {};
  return r.simulation->traffic.links[link].counted(r.machine.accounting);
}

// The time of the simulated bytes, computed with the same kernels as the predicted ones.
std::optional<Timing> simulated_timing(const Result& r) {
  if (!r.simulation) return {};
  const Machine machine = view_of_one_core(r.machine);
  return timing(r.simulation->traffic, kernel_time(r.workload, r.schedule, machine), machine);
}

std::optional<Uncertainty> sure(const Result& r) {
  if (!r.prediction) return {};
  return uncertainty(r.prediction->timing, rate_spread(r.machine, size_of(r.workload.type())),
                     r.machine);
}

double gflops(const Result& r, Seconds time) { return r.workload.flops() / time.value() / 1e9; }

double peak_gflops(const Result& r) {
  return r.machine.peak(size_of(r.workload.type())).value() / 1e9;
}

std::optional<Joules> joules_of(const Result& r) {
  if (!r.prediction) return {};
  return energy(r.prediction->traffic, view_of_one_core(r.machine));
}

// The certificate's bound if it is of this kind.
std::optional<double> bound_in(const Result& r, bool joules) {
  if (!r.certificate || joules != (r.certificate->objective == Objective::energy)) return {};
  return r.certificate->relaxed_bound;
}

std::optional<Seconds> measured_seconds(const Result& r) {
  if (!r.measured) return {};
  return r.measured->median;
}

std::optional<double> measured_gflops(const Result& r) {
  if (!r.measured) return {};
  return r.workload.flops() / r.measured->median.value() / 1e9;
}

// JSON.

ordered_json level_json(const Result& r, std::size_t link) {
  const LevelId id{static_cast<int>(link)};
  ordered_json level{{"name", r.machine.level(id).name}, {"link", r.machine.link(id)}};
  if (auto b = predicted(r, link)) level["predicted_bytes"] = b->value();
  if (auto b = simulated(r, link)) level["simulated_bytes"] = b->value();
  if (!r.bounds.empty()) level["bound_bytes"] = r.bounds[link].value();
  add_counted(level, r, link);
  if (auto e = error(r, link)) level["error"] = *e;
  if (r.prediction) level["predicted_seconds"] = r.prediction->timing.links[link].value();
  ordered_json tensors = ordered_json::object();
  for (const Array& a : printed_arrays) {
    ordered_json tensor = ordered_json::object();
    const auto add = [&](const char* key, const std::optional<Traffic>& traffic) {
      if (!traffic) return;
      const Bytes bytes = traffic->links[link].counted(r.machine.accounting, a);
      if (bytes.value() > 0) tensor[key] = bytes.value();
    };
    if (r.prediction) add("predicted_bytes", r.prediction->traffic);
    if (r.simulation) add("simulated_bytes", r.simulation->traffic);
    if (!tensor.empty()) tensors[to_text(a)] = tensor;
  }
  if (!tensors.empty()) level["by_tensor"] = tensors;
  add_simulation(level, r, link);
  return level;
}

// Of what runs on one core, where it ran or something of what such runs lose was measured.
std::optional<Expected> expected_of(const Result& r) {
  const bool one = r.threads == 1 && r.copies == 1;
  const bool known = r.measured || losses_count(r.machine, {});
  if (!r.prediction || r.model != ModelKind::window || !one || !known) return {};
  return expected(r.workload, r.schedule, *r.prediction, r.machine);
}

std::string to_words(const Expected& e) {
  const std::string parts =
      fmt::format("computing {}, waiting for data {}, packs and calls {}", to_display(e.compute),
                  to_display(e.waiting.traffic), to_display(e.waiting.core));
  if (e.core() >= e.link()) return parts;
  return fmt::format("the slowest link hides {}", parts);
}

// In ttile's notation, of convolutions.
std::optional<std::string> scheme_of(const Result& r) {
  if (r.workload.is_plain(TensorId::A) && r.workload.is_plain(TensorId::B)) return {};
  return to_scheme(r.schedule, r.workload, lanes_of(r.machine.core, r.workload.type()));
}

}  // namespace

ordered_json json_of(const Result& r) {
  ordered_json j{{"schema", results_schema},
                 {"command", r.command},
                 {"tcsim_version", version},
                 {"workload", json_of(r.workload)},
                 {"machine", {{"name", r.machine.name}, {"hash", content_hash(r.machine)}}},
                 {"schedule", to_line(r.schedule, r.workload)},
                 {"accounting", json_of(r.machine.accounting)},
                 {"model", to_text(r.model)},
                 {"seed", r.seed}};
  if (const auto scheme = scheme_of(r)) j["scheme"] = *scheme;
  if (r.tuned) {
    j["tuned"] = {{"date", r.tuned->date},
                  {"candidates", r.tuned->tried.size()},
                  {"ratio", r.tuned->ratio},
                  {"gflops", r.tuned->measured.value() / 1e9},
                  {"of_peak", r.tuned->of_peak}};
  }
  if (r.prediction) add_warnings(j, r.machine);
  j["levels"] = ordered_json::array();
  for (std::size_t l = 0; l < link_count(r); ++l) j["levels"].push_back(level_json(r, l));
  add_simulation(j, r);
  if (r.prediction) {
    const Timing& t = r.prediction->timing;
    j["predicted_seconds"] = t.total.value();
    j["predicted_gflops"] = r.prediction->rate.value() / 1e9;
    j["compute_seconds"] = t.compute.value();
    j["bottleneck"] = bottleneck_name(t, r.machine);
    j["uncertainty"] = json_of(sure(r));
    if (const auto e = expected_of(r)) {
      j["expected_seconds"] = e->total().value();
      j["expected"] = {{"slowest_link_seconds", e->slowest.value()},
                       {"compute_seconds", e->compute.value()},
                       {"waiting_seconds", e->waiting.traffic.value()},
                       {"packs_and_calls_seconds", e->waiting.core.value()}};
    }
    if (const auto joules = joules_of(r)) j["energy_joules"] = joules->value();
  }
  if (const auto t = simulated_timing(r)) {
    j["simulated_seconds"] = t->total.value();
    j["simulated_gflops"] = gflops(r, t->total);
    j["simulated_bottleneck"] = bottleneck_name(*t, r.machine);
  }
  if (r.measured) {
    j["measured_seconds"] = r.measured->median.value();
    j["measured_gflops"] = *measured_gflops(r);
    j["repetitions_seconds"] = ordered_json::array();
    j["processor_seconds"] = ordered_json::array();
    for (const Repetition& one : r.repetitions) {
      j["repetitions_seconds"].push_back(one.wall.value());
      j["processor_seconds"].push_back(one.processor.value());
    }
    j["processor_share"] = r.measured->share;
    j["left_out"] = r.measured->left_out;
    j["disturbed"] = r.measured->disturbed;
    j["kernel"] = r.kernel;
    j["threads"] = r.threads;
    j["copies"] = r.copies;
  }
  if (r.counted) j["counters"] = counters_json(r);
  if (r.worst_error) j["check_error_over_bound"] = *r.worst_error;
  j["peak_gflops"] = peak_gflops(r);
  if (r.certificate) {
    const char* unit = r.certificate->objective == Objective::energy ? "joules" : "seconds";
    j["certificate"] = {{"objective", to_text(r.certificate->objective)},
                        {fmt::format("relaxed_bound_{}", unit), r.certificate->relaxed_bound},
                        {fmt::format("achieved_{}", unit), r.certificate->achieved},
                        {"gap", r.certificate->gap},
                        {"seconds_to_solve", r.seconds_to_solve},
                        {"family", r.certificate->family},
                        {"any_schedule", r.certificate->any_schedule()},
                        {fmt::format("any_schedule_bound_{}", unit), r.certificate->any_bound},
                        {"any_schedule_gap", r.certificate->any_gap()}};
  }
  if (r.least) j["any_schedule_bound_seconds"] = r.least->value();
  if (!r.not_certified.empty()) j["not_certified"] = r.not_certified;
  if (r.advice) j["what_would_help"] = json_of(*r.advice);
  return j;
}

namespace {

void print_json(const std::vector<Result>& results, bool suite, std::ostream& out) {
  if (!suite && results.size() == 1) {
    out << json_text(json_of(results.front())) << "\n";
    return;
  }
  ordered_json all{{"schema", results_schema},
                   {"command", results.empty() ? "" : results.front().command},
                   {"tcsim_version", version},
                   {"results", ordered_json::array()}};
  for (const Result& r : results) all["results"].push_back(json_of(r));
  out << json_text(all) << "\n";
}

// CSV: a row per workload and level.

template <class T>
std::string cell(const std::optional<T>& value) {
  if (!value) return "";
  if constexpr (requires { value->value(); })
    return fmt::format("{}", value->value());
  else
    return fmt::format("{}", *value);
}

// Columns of the CSV, each with what it holds of a workload's level.
struct Column {
  const char* name;
  std::function<std::string(const Result&, std::size_t)> cell;
};

const std::vector<Column>& columns() {
  using R = const Result&;
  using L = std::size_t;
  const auto level = [](R r, L l) { return r.machine.level(LevelId{static_cast<int>(l)}); };
  static const std::vector<Column> all{
      {"schema", [](R, L) { return fmt::format("{}", results_schema); }},
      {"command", [](R r, L) { return r.command; }},
      {"tcsim_version", [](R, L) { return version; }},
      {"workload", [](R r, L) { return r.workload.name(); }},
      {"label", [](R r, L) { return r.workload.label(); }},
      {"sizes", [](R r, L) { return r.workload.sizes(); }},
      {"type", [](R r, L) { return to_text(r.workload.type()); }},
      {"layout", [](R r, L) { return to_text(r.workload.layout()); }},
      {"machine", [](R r, L) { return r.machine.name; }},
      {"machine_hash", [](R r, L) { return content_hash(r.machine); }},
      {"accounting", [](R r, L) { return r.machine.accounting.name; }},
      {"model", [](R r, L) { return to_text(r.model); }},
      {"seed", [](R r, L) { return fmt::format("{}", r.seed); }},
      {"level", [level](R r, L l) { return level(r, l).name; }},
      {"link", [](R r, L l) { return r.machine.link(LevelId{static_cast<int>(l)}); }},
      {"predicted_bytes", [](R r, L l) { return cell(predicted(r, l)); }},
      {"simulated_bytes", [](R r, L l) { return cell(simulated(r, l)); }},
      {"bound_bytes",
       [](R r, L l) { return r.bounds.empty() ? "" : fmt::format("{}", r.bounds[l].value()); }},
      {"measured_bytes", [](R r, L l) { return cell(measured_bytes(r, l)); }},
      {"measured_in_bytes", [](R r, L l) { return cell(measured_in(r, l)); }},
      {"measured_out_bytes", [](R r, L l) { return cell(measured_out(r, l)); }},
      {"error", [](R r, L l) { return cell(error(r, l)); }},
      {"level_predicted_seconds",
       [](R r, L l) {
         return r.prediction ? csv_number(r.prediction->timing.links[l].value()) : "";
       }},
      {"predicted_seconds",
       [](R r, L) { return r.prediction ? csv_number(r.prediction->timing.total.value()) : ""; }},
      {"predicted_gflops",
       [](R r, L) { return r.prediction ? csv_number(r.prediction->rate.value() / 1e9) : ""; }},
      {"expected_seconds",
       [](R r, L) {
         const auto e = expected_of(r);
         return e ? csv_number(e->total().value()) : "";
       }},
      {"simulated_seconds",
       [](R r, L) {
         const auto t = simulated_timing(r);
         return t ? csv_number(t->total.value()) : "";
       }},
      {"measured_seconds", [](R r, L) { return cell(measured_seconds(r)); }},
      {"measured_gflops", [](R r, L) { return cell(measured_gflops(r)); }},
      {"processor_share", [](R r, L) { return r.measured ? csv_number(r.measured->share) : ""; }},
      {"peak_gflops", [](R r, L) { return csv_number(peak_gflops(r)); }},
      {"bottleneck",
       [](R r, L) { return r.prediction ? bottleneck_name(r.prediction->timing, r.machine) : ""; }},
      {"simulated_bottleneck",
       [](R r, L) {
         const auto t = simulated_timing(r);
         return t ? bottleneck_name(*t, r.machine) : "";
       }},
      {"bottleneck_share",
       [](R r, L) {
         const auto u = sure(r);
         return u ? csv_number(u->share(bottleneck_name(r.prediction->timing, r.machine))) : "";
       }},
      {"level_bottleneck_share",
       [](R r, L l) {
         const auto u = sure(r);
         return u ? csv_number(u->share(r.machine.link(LevelId{static_cast<int>(l)}))) : "";
       }},
      {"predicted_seconds_5",
       [](R r, L) {
         const auto u = sure(r);
         return u ? csv_number(u->low.value()) : "";
       }},
      {"predicted_seconds_95",
       [](R r, L) {
         const auto u = sure(r);
         return u ? csv_number(u->high.value()) : "";
       }},
      {"energy_joules", [](R r, L) { return cell(joules_of(r)); }},
      {"objective", [](R r, L) { return r.certificate ? to_text(r.certificate->objective) : ""; }},
      {"relaxed_bound_seconds", [](R r, L) { return cell(bound_in(r, false)); }},
      {"relaxed_bound_joules", [](R r, L) { return cell(bound_in(r, true)); }},
      {"gap", [](R r, L) { return r.certificate ? csv_number(r.certificate->gap) : ""; }},
      {"schedule", [](R r, L) { return to_line(r.schedule, r.workload); }},
  };
  return all;
}

void print_csv(const std::vector<Result>& results, std::ostream& out) {
  const auto of_sets = [](const Result& r) { return r.sets.has_value(); };
  if (std::ranges::any_of(results, of_sets)) return print_sets_csv(results, out);
  const auto of_timeline = [](const Result& r) { return r.timeline.has_value(); };
  if (std::ranges::any_of(results, of_timeline)) return print_timeline_csv(results, out);
  std::vector<std::string> cells;
  for (const Column& c : columns()) cells.emplace_back(c.name);
  std::ranges::copy(simulation_columns(), std::back_inserter(cells));
  out << csv_line(cells);
  for (const Result& r : results) {
    for (std::size_t l = 0; l < link_count(r); ++l) {
      cells.clear();
      for (const Column& c : columns()) cells.push_back(c.cell(r, l));
      std::ranges::copy(simulation_cells(r, l), std::back_inserter(cells));
      out << csv_line(cells);
    }
  }
}

// Tables.

void print_levels(const Result& r, std::ostream& out) {
  const Machine machine = view_of_one_core(r.machine);
  out << fmt::format("  {:<14}", "link");
  if (r.prediction) out << fmt::format("{:>14}", "predicted");
  if (r.simulation) out << fmt::format("{:>14}", "simulated");
  if (r.prediction && r.simulation) out << fmt::format("{:>10}", "error");
  if (r.sampled) out << fmt::format("{:>14}{:>12}", "sampled", "95 %");
  if (!r.bounds.empty()) out << fmt::format("{:>14}", "bound");
  if (r.prediction) out << fmt::format("{:>14}{:>16}", "time", "bandwidth");
  out << "\n";
  for (std::size_t l = 0; l < link_count(r); ++l) {
    const LevelId id{static_cast<int>(l)};
    out << fmt::format("  {:<14}", r.machine.link(id));
    if (auto b = predicted(r, l)) out << fmt::format("{:>14}", to_display(*b));
    if (auto b = simulated(r, l)) out << fmt::format("{:>14}", to_display(*b));
    if (r.prediction && r.simulation) {
      const auto e = error(r, l);
      out << fmt::format("{:>10}", e ? fmt::format("{:+.2f} %", 100 * *e) : "-");
    }
    if (r.sampled) {
      const Estimate bytes = sampled_bytes(r, l);
      const double off = bytes.value > 0 ? 100 * bytes.error / bytes.value : 0;
      out << fmt::format("{:>14}{:>12}", to_display(Bytes(std::llround(bytes.value))),
                         fmt::format("+-{:.2f} %", off));
    }
    if (!r.bounds.empty()) out << fmt::format("{:>14}", to_display(r.bounds[l]));
    if (r.prediction) {
      out << fmt::format("{:>14}{:>16}", to_display(r.prediction->timing.links[l]),
                         fmt::format("{:.1f} GB/s", machine.bandwidth(id).value() / 1e9));
    }
    out << "\n";
  }
  if (r.prediction && r.machine.accounting.compute_roof) {
    out << fmt::format("  {:<14}", "compute");
    out << std::string(
        14 + (r.simulation ? 24 : 0) + (r.sampled ? 26 : 0) + (r.bounds.empty() ? 0 : 14), ' ');
    out << fmt::format("{:>14}{:>16}\n", to_display(r.prediction->timing.compute),
                       fmt::format("{:.1f} GFLOPS", peak_gflops(r)));
  }
  if (!r.bounds.empty()) {
    out << "  bound: no order of the multiply-adds moves less, "
        << (r.machine.accounting.write_backs ? "loads and stores" : "loads")
        << ", ideal replacement (tcsim bounds)\n";
  }
}

// What each array contributes to every link; the row below a prediction is its simulation.
void print_tensors(const Result& r, std::ostream& out) {
  if (!r.prediction && !r.simulation) return;
  out << fmt::format("  {:<26}", "by tensor");
  for (const Array& a : printed_arrays) out << fmt::format("{:>12}", to_text(a));
  out << "\n";
  const auto row = [&](const std::string& link, const char* kind, const Traffic& traffic,
                       std::size_t l) {
    out << fmt::format("  {:<14}{:<12}", link, kind);
    for (const Array& a : printed_arrays) {
      const Bytes bytes = traffic.links[l].counted(r.machine.accounting, a);
      out << fmt::format("{:>12}", bytes.value() > 0 ? to_display(bytes) : "-");
    }
    out << "\n";
  };
  for (std::size_t l = 0; l < link_count(r); ++l) {
    const std::string link = r.machine.link(LevelId{static_cast<int>(l)});
    if (r.prediction) row(link, "predicted", r.prediction->traffic, l);
    if (r.simulation) row(r.prediction ? "" : link, "simulated", r.simulation->traffic, l);
  }
  out << "\n";
}

void print_totals(const Result& r, std::ostream& out) {
  const auto row = [&](const char* name, Seconds time, double gflops, bool of_peak, int cores) {
    const double peak = cores * peak_gflops(r);
    out << fmt::format("  {:<14}{:>14}{:>16}{:>12}\n", name, to_display(time),
                       fmt::format("{:.1f} GFLOPS", gflops),
                       of_peak ? fmt::format("{:.1f} %", 100 * gflops / peak) : "-");
  };
  out << fmt::format("  {:<14}{:>14}{:>16}{:>12}\n", "", "time", "rate", "of FMA peak");
  if (r.prediction) {
    row("predicted", r.prediction->timing.total, r.prediction->rate.value() / 1e9, true, 1);
  }
  if (const auto t = simulated_timing(r)) row("simulated", t->total, gflops(r, t->total), true, 1);
  if (const auto e = expected_of(r)) {
    row("expected", e->total(), gflops(r, e->total()), true, 1);
  }
  if (!r.measured) return;
  const bool here = r.machine.name == "host";
  row(r.copies > 1 ? "measured each" : "measured", r.measured->median, *measured_gflops(r), here,
      r.copies > 1 ? 1 : r.threads);
  if (r.copies > 1) {
    row("together", r.measured->median, r.copies * *measured_gflops(r), here, r.copies);
  }
  if (!here) out << "  (measured on this machine, predicted for " << r.machine.name << ")\n";
}

void print_certificate(const Certificate& c, std::ostream& out) {
  const auto display = [&](double cost) {
    return c.objective == Objective::energy ? to_display(Joules(cost)) : to_display(Seconds(cost));
  };
  const char* of = c.objective == Objective::sum ? " of all links together" : "";
  out << fmt::format(
      "  certificate   relaxed bound {}, achieved {}{}, gap {:.2f} %: {} is {}\n",
      display(c.relaxed_bound), display(c.achieved), of, 100 * c.gap, c.bound_words(),
      c.objective == Objective::energy ? "below the bound" : "quicker than the bound");
  if (c.any_schedule()) return;
  out << fmt::format("  {:14}no schedule at all is {} {}, gap {:.2f} %\n", "",
                     c.objective == Objective::energy ? "below" : "quicker than",
                     display(c.any_bound), 100 * c.any_gap());
}

}  // namespace

void print_table(const Result& r, std::ostream& out) {
  out << heading(r.workload, r.machine, fmt::format(", model {}", to_text(r.model))) << "\n";
  print_levels(r, out);
  out << "\n";
  if (r.command == "predict" || r.command == "simulate") print_tensors(r, out);
  if (r.command == "simulate") print_simulation(r, out);
  if (r.prediction || r.measured) {
    print_totals(r, out);
    out << "\n";
  }
  if (r.counted) print_counted(r, out);
  if (r.prediction) {
    const std::string predicted = bottleneck_name(r.prediction->timing, r.machine);
    const auto simulated = simulated_timing(r);
    out << fmt::format("  bottleneck    {}", predicted);
    if (simulated && bottleneck_name(*simulated, r.machine) != predicted) {
      out << fmt::format("; {} by the simulation", bottleneck_name(*simulated, r.machine));
    }
    out << "\n";
  }
  if (const auto e = expected_of(r)) out << "  expected      " << to_words(*e) << "\n";
  if (const auto u = sure(r)) {
    out << fmt::format("  how sure      {}\n  {:14}{}\n",
                       sure_words(bottleneck_name(r.prediction->timing, r.machine), *u), "",
                       time_band_words(*u));
  } else if (r.command == "report") {
    out << "  how sure      " << no_spread_words << "\n";
  }
  if (const auto joules = joules_of(r)) {
    out << fmt::format("  energy        {}\n", to_display(*joules));
  }
  if (r.certificate) print_certificate(*r.certificate, out);
  if (!r.not_certified.empty()) {
    out << fmt::format("  certificate   not certified: {}\n", r.not_certified);
  }
  if (r.least && r.prediction) {
    out << fmt::format("  {:14}no schedule at all is quicker than {}, gap {:.2f} %\n",
                       r.not_certified.empty() ? "certificate" : "", to_display(*r.least),
                       100 * (r.prediction->timing.total / *r.least - 1));
  }
  if (r.tuned) out << fmt::format("  schedule      {}\n", r.tuned->words());
  if (!r.kernel.empty()) {
    out << fmt::format("  kernel        {}{}\n", r.kernel,
                       r.copies > 1    ? fmt::format(", {} contractions at a time", r.copies)
                       : r.threads > 1 ? fmt::format(", {} threads", r.threads)
                                       : "");
  }
  if (r.measured) {
    const std::size_t times = r.repetitions.size();
    const std::string others = disturbance(*r.measured, r.threads);
    out << fmt::format("  repeated      {} {}{}\n", times, times == 1 ? "time" : "times",
                       r.measured->left_out > 0
                           ? fmt::format(", {} disturbed by others left out", r.measured->left_out)
                           : "");
    if (!others.empty()) out << "  disturbed     " << others << "\n";
  }
  if (r.worst_error) {
    out << fmt::format("  check         {}: largest error {:.2g} of its bound\n",
                       *r.worst_error <= 1 ? "passed" : "FAILED", *r.worst_error);
  }
  for (std::size_t l = 0; l < link_count(r); ++l) {
    const auto e = error(r, l);
    if (e && std::abs(*e) > agreement) {
      out << fmt::format("  disagreement  {}: predicted {:+.1f} % of simulated bytes\n",
                         r.machine.link(LevelId{static_cast<int>(l)}), 100 * *e);
    }
  }
  if (const auto t = simulated_timing(r); t && r.prediction) {
    const double off = r.prediction->timing.total / t->total - 1;
    if (std::abs(off) > time_agreement) {
      out << fmt::format("  disagreement  time: predicted {:+.1f} % of the simulated one\n",
                         100 * off);
    }
  }
  if (r.advice) out << "\nwhat would help\n  " << r.advice->words << "\n";
  out << "\nschedule\n" << to_text(r.schedule, r.workload);
  if (const auto scheme = scheme_of(r)) out << "scheme  " << *scheme << "\n";
}

void take(Result& result, RunResult run, int copies) {
  result.measured = run.timed;
  result.repetitions = std::move(run.repetitions);
  result.worst_error = run.check.worst_error;
  result.kernel = run.kernel;
  result.threads = run.threads;
  result.copies = copies;
}

std::optional<double> error(const Result& r, std::size_t link) {
  const auto p = predicted(r, link), s = simulated(r, link);
  if (!p || !s || s->value() == 0) return {};
  return static_cast<double>(p->value() - s->value()) / static_cast<double>(s->value());
}

void print(const std::vector<Result>& results, Format format, bool suite, std::ostream& out) {
  switch (format) {
    case Format::json:
      return print_json(results, suite, out);
    case Format::csv:
      return print_csv(results, out);
    case Format::table:
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (i > 0) out << "\n";
        print_table(results[i], out);
      }
  }
}

}  // namespace tcsim::cli
