#include "cli/bounds_curve.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/bounds_marks.hpp"
#include "cli/describe.hpp"
#include "cli/result.hpp"
#include "cli/simulation/simulation.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "cli/work.hpp"
#include "core/bounds/link_bounds.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "sim/lru_curve.hpp"

namespace tcsim::cli {

namespace {

using bounds::BoundPoint;
using nlohmann::ordered_json;

constexpr std::int64_t most_points = 1000;
// So many multiply-adds are half a minute a point in an LRU cache; beyond them there is none.
constexpr double most_simulated = 1e9;

struct CurveOf {
  const Contraction& workload;
  std::vector<BoundPoint> points;
  std::vector<std::optional<StoreCounts>> lru;  // empty: not simulated
  std::optional<Result> run = {};               // with --run
};

// What counts of them.
std::int64_t counted(const StoreCounts& counts, bounds::Moves moves) {
  const Elements stores = moves == bounds::Moves::loads_and_stores ? counts.stores : Elements(0);
  return (counts.loads + stores).value();
}

std::string rounded(double number) { return fmt::format("{:.0f}", number); }

struct CurveRow {
  std::string capacity, bytes, lower, upper, scheduled, ratio, lru, schedule;
};

CurveRow row_of(const CurveOf& curve, std::size_t i, bounds::Moves moves) {
  const BoundPoint& p = curve.points[i];
  const auto lower = static_cast<double>(p.lower.elements);
  CurveRow row;
  row.capacity = std::to_string(p.capacity);
  row.bytes = std::to_string(p.capacity * size_of(curve.workload.type()).value());
  row.lower = lower_text(p.lower.elements);
  if (p.upper) row.upper = rounded(p.upper->cost.moved);
  if (p.schedule) {
    row.scheduled = rounded(p.schedule->bound.cost.moved);
    row.ratio = fmt::format("{:.3f}", p.schedule->bound.cost.moved / lower);
    row.schedule = to_line(p.schedule->schedule, curve.workload);
  }
  if (!curve.lru.empty() && curve.lru[i]) row.lru = std::to_string(counted(*curve.lru[i], moves));
  return row;
}

void print_table(const CurveOf& curve, bounds::Moves moves, std::ostream& out) {
  out << visible(curve.workload.name()) << ": elements over the link to a memory of S elements, "
      << (moves == bounds::Moves::loads ? "loads" : "loads and stores") << "\n";
  Rows rows;
  const auto or_dash = [](const std::string& cell) { return cell.empty() ? "-" : cell; };
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CurveRow r = row_of(curve, i, moves);
    rows.push_back(
        {r.capacity,
         to_display(Bytes(curve.points[i].capacity * size_of(curve.workload.type()).value())),
         r.lower, or_dash(r.upper), or_dash(r.scheduled), or_dash(r.ratio), or_dash(r.lru)});
  }
  out << aligned({"S", "size", "lower bound", "upper bound", "best schedule", "ratio", "LRU cache"},
                 rows, "  ");
  if (curve.lru.empty()) {
    out << "  LRU cache: not simulated, " << rounded(curve.workload.flops() / 2)
        << " multiply-adds\n";
  }
  if (curve.run) print_marks(*curve.run, out);
}

// With marks there are columns and rows more.
void print_csv(const std::vector<CurveOf>& curves, bounds::Moves moves, std::ostream& out) {
  const bool marks = !curves.empty() && curves.front().run;
  std::vector<std::string> columns{"workload",       "cache_elements", "cache_bytes",
                                   "lower_elements", "upper_elements", "schedule_elements",
                                   "lru_elements",   "schedule"};
  const std::vector<std::string> more{"link", "predicted_elements", "simulated_elements",
                                      "measured_elements", "not_measured"};
  if (marks) columns.insert(columns.end(), more.begin(), more.end());
  out << csv_line(columns);
  const auto cell = [](const std::optional<double>& n) { return n ? rounded(*n) : std::string(); };
  for (const CurveOf& curve : curves) {
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const CurveRow r = row_of(curve, i, moves);
      std::vector<std::string> cells{curve.workload.name(), r.capacity, r.bytes,   r.lower, r.upper,
                                     r.scheduled,           r.lru,      r.schedule};
      if (marks) cells.resize(cells.size() + more.size());
      out << csv_line(cells);
    }
    if (!curve.run) continue;
    const std::int64_t element = size_of(curve.workload.type()).value();
    for (const BoundMark& m : bound_marks(*curve.run)) {
      out << csv_line({curve.workload.name(), std::to_string(m.capacity),
                       std::to_string(m.capacity * element), rounded(std::floor(m.lower)), "", "",
                       "", to_line(curve.run->schedule, curve.workload), m.link, cell(m.predicted),
                       cell(m.simulated), cell(m.measured), m.not_measured});
    }
  }
}

ordered_json json_of_curve(const CurveOf& curve, bounds::Moves moves) {
  ordered_json j{{"workload", json_of(curve.workload)}, {"points", ordered_json::array()}};
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const BoundPoint& p = curve.points[i];
    ordered_json point{
        {"cache_elements", p.capacity}, {"lower_elements", lower_json(p.lower.elements)},
        {"upper_elements", nullptr},    {"schedule_elements", nullptr},
        {"lru_elements", nullptr},      {"schedule", nullptr}};
    if (p.upper) point["upper_elements"] = p.upper->cost.moved;
    if (p.schedule) {
      point["schedule_elements"] = p.schedule->bound.cost.moved;
      point["schedule"] = to_line(p.schedule->schedule, curve.workload);
    }
    if (!curve.lru.empty() && curve.lru[i]) point["lru_elements"] = counted(*curve.lru[i], moves);
    j["points"].push_back(std::move(point));
  }
  if (curve.run) j["run"] = json_of_marks(*curve.run);
  return j;
}

// The machine's own schedule, run here.
class MarkRunner {
 public:
  MarkRunner(const Options& options, bounds::Moves moves, Context& context)
      : options_(options),
        context_(context),
        runner_(options, context, 1, 1, Runner::Counters::always),
        machine_(machine(options, context)) {
    // Marks count what the curve does.
    machine_.accounting =
        moves == bounds::Moves::loads ? Accounting::paper() : Accounting::honest();
  }

  Result run(const Contraction& c) {
    runner_.require_memory(c);
    Result r("bounds", c, machine_);
    {
      Progress progress(context_, c.name() + ": choosing a schedule");
      progress.show(0);
      Chosen chosen = choose(options_, c, machine_, context_);
      r.schedule = std::move(chosen.schedule);
      r.prediction = std::move(chosen.prediction);
    }
    if (options_.count("seed") != 0) r.seed = options_["seed"].as<std::uint64_t>();
    runner_.require_memory(r);
    r.bounds = bounds::LinkBounds(c).at(machine_);
    if (!options_["no-simulate"].as<bool>()) add_simulation(r, options_, context_);
    runner_.add_run(r);
    return r;
  }

 private:
  const Options& options_;
  Context& context_;
  Runner runner_;
  Machine machine_;
};

}  // namespace

std::vector<std::int64_t> curve_capacities(const std::string& text, Bytes element) {
  const auto dots = text.find("..");
  if (dots == std::string::npos) {
    throw UsageError("--curve", fmt::format("'{}' is no range", text), "write 16KiB..64MiB");
  }
  const auto colon = std::min(text.find(':', dots), text.size());
  const std::int64_t low = elements_of(text.substr(0, dots), element, "--curve");
  const std::int64_t high =
      elements_of(text.substr(dots + 2, colon - dots - 2), element, "--curve");
  if (high < low) {
    throw UsageError("--curve", fmt::format("'{}' ends before it begins", text),
                     "put the smaller capacity first");
  }
  const double reach = std::log2(static_cast<double>(high) / static_cast<double>(low));
  auto points = static_cast<std::int64_t>(std::ceil(reach)) + 1;
  double step = 1;  // of the logarithm
  if (colon < text.size()) {
    points = parse_count(text.substr(colon + 1), "points of --curve");
    if (points > most_points) {
      throw UsageError("--curve", fmt::format("{} points are too many", points),
                       fmt::format("ask for {} at most", most_points));
    }
    step = points > 1 ? reach / static_cast<double>(points - 1) : 0;
  }
  std::vector<std::int64_t> capacities;
  for (std::int64_t i = 0; i < points; ++i) {
    const double at = static_cast<double>(low) * std::exp2(step * static_cast<double>(i));
    const bool last = i + 1 == points && points > 1;
    const std::int64_t capacity = last || at >= static_cast<double>(high)
                                      ? high
                                      : std::max<std::int64_t>(low, std::llround(at));
    if (capacities.empty() || capacities.back() != capacity) capacities.push_back(capacity);
  }
  return capacities;
}

Exit run_bounds_curve(const Options& options, const std::vector<Contraction>& workloads,
                      bounds::Moves moves, Context& context) {
  const Format form = format(options);
  std::vector<CurveOf> curves;
  std::optional<MarkRunner> runner;
  if (options["run"].as<bool>()) runner.emplace(options, moves, context);
  Exit code = Exit::done;
  for (const Contraction& c : workloads) {
    const std::vector<std::int64_t> capacities =
        curve_capacities(options["curve"].as<std::string>(), size_of(c.type()));
    Progress progress(context, c.name() + ": bounds");
    CurveOf curve{c, {}, {}};
    const bool simulates = c.flops() / 2 <= most_simulated && !options["no-simulate"].as<bool>();
    std::vector<std::int64_t> smaller;
    if (simulates) smaller = lru_schedule_capacities(capacities);
    const std::vector<BoundPoint> points = bounds::bound_curve(
        c, capacities, {moves, context.stop, [&](double share) { progress.show(share); }, smaller});
    if (context.stop.stop_requested()) throw Interrupted();
    curve.points.assign(points.begin(), points.begin() + std::ssize(capacities));
    if (simulates) {
      curve.lru = lru_curve(c, points, capacities,
                            [&](double share) { progress.show(c.name() + ": LRU caches", share); });
    }
    if (runner) {
      curve.run = runner->run(c);
      if (!(*curve.run->worst_error <= 1)) code = Exit::no;
    }
    curves.push_back(std::move(curve));
    if (form != Format::table) continue;
    if (curves.size() > 1) context.out << "\n";
    print_table(curves.back(), moves, context.out);
  }
  if (form == Format::csv) print_csv(curves, moves, context.out);
  if (form != Format::json) return code;
  ordered_json j{{"schema", results_schema},
                 {"command", "bounds"},
                 {"tcsim_version", version},
                 {"accounting", {{"name", moves == bounds::Moves::loads ? "paper" : "honest"}}},
                 {"curves", ordered_json::array()}};
  for (const CurveOf& curve : curves) j["curves"].push_back(json_of_curve(curve, moves));
  context.out << json_text(j) << "\n";
  return code;
}

}  // namespace tcsim::cli
