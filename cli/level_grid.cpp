#include "cli/level_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/request.hpp"
#include "cli/result.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "core/study/cost.hpp"
#include "core/study/study.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

using levels::Hierarchy;
using levels::LevelCrossover;
using levels::LevelGrid;
using levels::LevelPlan;
using levels::LevelPoint;
using nlohmann::ordered_json;

namespace {

constexpr int points_of_one_knob = 7, points_of_more_knobs = 5;

// The price of a machine by a cost model, or its area where the model has no price.
std::function<double(const Machine&)> level_cost(const Options& options, const Machine& machine) {
  if (options.count("cost") == 0) return {};
  const std::string name = options["cost"].as<std::string>();
  const CostModel model = parse_cost_model(shipped_sources("--cost").cost_model(name), name);
  if (!model.cost(machine) && !model.area(machine)) {
    throw UsageError("--cost",
                     fmt::format("{} has neither a price nor areas for {}", name, machine.name),
                     "give a model with rules for its core or its levels");
  }
  return [model](const Machine& m) {
    const std::optional<double> price = model.cost(m);
    return price ? *price : model.area(m).value_or(0);
  };
}

}  // namespace

void declare_level_grid(po::options_description& o) {
  o.add_options()("vary", po::value<std::vector<std::string>>(),
                  "on a machine with explicit levels: what a capacity, a bandwidth, a number of "
                  "processes changes: global.bandwidth=0.5x..4x, local.capacity=1GB,4GB. Several "
                  "times: every combination, and which of them are worth it (Pareto)")(
      "cost", po::value<std::string>(),
      "there with --vary: a cost model, shipped or a file, whose price (or area) stands against "
      "the time; otherwise every knob does");
}

std::optional<LevelGrid> level_grid(const Options& options, const LevelAnswer& a,
                                    const levels::LevelOptimum& best, Context& context) {
  if (options.count("vary") == 0) {
    if (options.count("cost") == 0) return {};
    throw UsageError("--cost", "belongs to --vary", "say what varies");
  }
  const auto& given = options["vary"].as<std::vector<std::string>>();
  std::vector<KnobRange> ranges;
  for (const std::string& text : given) {
    ranges.push_back(given.size() == 1
                         ? parse_knob_range(a.machine, text, points_of_one_knob)
                         : parse_knob_range(a.machine, text, points_of_more_knobs, Ends::as_given));
    const std::string& remark = ranges.back().remark;
    if (!remark.empty() && !context.quiet) context.err << "note: " << remark << "\n";
  }
  Progress progress(context, a.tree.name);
  levels::VaryOptions how;
  how.overlap = a.hierarchy.overlap;
  how.cost = level_cost(options, a.machine);
  how.search.incumbents.push_back(best.plan);
  how.search.progress = [&](double share) { progress.show(a.tree.name + ": what if", share); };
  LevelGrid grid = levels::vary(a.tree, a.machine, ranges, how);
  if (grid.points.empty()) throw Interrupted();
  return grid;
}

std::string level_homes(const LevelAnswer& a, const LevelPlan& plan) {
  const std::string text = levels::homes_text(a.tree, a.hierarchy, plan);
  return text.empty() ? "-" : text;
}

namespace {

std::string faster(const LevelAnswer& a, const LevelPlan& plan) {
  return fmt::format("{:.2f} x", a.ways.front().plan.time() / plan.time());
}

std::vector<std::string> knob_names(const LevelGrid& grid) {
  std::vector<std::string> names;
  for (const Knob& k : grid.knobs) names.push_back(k.name);
  return names;
}

// Whether there is a front worth marking: a curve of one knob without costs is one already.
bool has_front(const LevelAnswer& a) { return a.grid->knobs.size() > 1 || !a.grid_cost.empty(); }

bool has_answers(const LevelGrid& grid) {
  return std::ranges::any_of(grid.points, [](const LevelPoint& p) { return p.answer.has_value(); });
}

// Values, cost where there is one, time, how much faster, the slowest, the intermediates.
std::vector<std::string> point_row(const LevelAnswer& a, const LevelPoint& p) {
  std::vector<std::string> row;
  for (std::size_t k = 0; k < p.values.size(); ++k) {
    row.push_back(display(a.grid->knobs[k], p.values[k]));
  }
  if (!a.grid_cost.empty()) row.push_back(p.is_machine ? fmt::format("{:.4g}", p.cost) : "");
  if (!p.answer) {
    row.insert(row.end(), {p.is_machine ? p.state : "no such machine", "", "", ""});
    return row;
  }
  const LevelPlan& plan = p.answer->plan;
  row.insert(row.end(), {to_display(plan.time()), faster(a, plan),
                         levels::slowest_name(a.hierarchy, plan), level_homes(a, plan)});
  return row;
}

void print_points(const LevelAnswer& a, bool front_alone, std::ostream& out) {
  const bool marked = !front_alone && has_front(a);
  Rows rows;
  for (const LevelPoint& p : a.grid->points) {
    if (front_alone && !p.front) continue;
    rows.push_back(point_row(a, p));
    if (marked) rows.back().push_back(p.front ? "*" : "");
  }
  std::vector<std::string> columns = knob_names(*a.grid);
  if (!a.grid_cost.empty()) columns.emplace_back("cost");
  columns.insert(columns.end(), {"time", "faster", "slowest", "intermediates"});
  if (marked) columns.emplace_back("");
  out << aligned(columns, rows, "  ");
}

// States get letters in the order in which they come up.
class Letters {
 public:
  std::string of(const std::string& state) {
    const auto found = std::ranges::find(seen_, state);
    const auto at = static_cast<std::size_t>(found - seen_.begin());
    if (found == seen_.end()) seen_.push_back(state);
    return letter(at);
  }
  void print(std::ostream& out) const {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      out << fmt::format("  {}  {}\n", letter(i), seen_[i]);
    }
  }

 private:
  static std::string letter(std::size_t i) {
    std::string text(1, static_cast<char>('a' + i % 26));
    return i < 26 ? text : letter(i / 26 - 1) + text;
  }
  std::vector<std::string> seen_;
};

void print_plane(const LevelAnswer& a, std::ostream& out) {
  const LevelGrid& grid = *a.grid;
  out << fmt::format("time, and what decides; down {}, across {}\n", grid.knobs[0].name,
                     grid.knobs[1].name);
  const double first = grid.points.front().values[0];
  const auto across = static_cast<std::size_t>(
      std::ranges::count(grid.points, first, [](const LevelPoint& p) { return p.values[0]; }));
  std::vector<std::string> columns{""};
  for (std::size_t c = 0; c < across; ++c) {
    columns.push_back(display(grid.knobs[1], grid.points[c].values[1]));
  }
  Rows rows;
  Letters letters;
  bool missing = false;
  for (std::size_t i = 0; i < grid.points.size(); ++i) {
    const LevelPoint& p = grid.points[i];
    if (i % across == 0) rows.push_back({display(grid.knobs[0], p.values[0])});
    missing |= !p.is_machine;
    rows.back().push_back(!p.is_machine ? "-"
                          : !p.answer   ? p.state
                                        : fmt::format("{} {}{}", to_display(p.answer->plan.time()),
                                                      letters.of(p.state), p.front ? "*" : ""));
  }
  out << aligned(columns, rows, "  ");
  letters.print(out);
  if (has_answers(grid)) out << "  *  on the Pareto front\n";
  if (!missing) return;
  const auto none = std::ranges::find(grid.points, false, &LevelPoint::is_machine);
  out << "  -  no such machine: " << none->state << "\n";
}

void print_front(const LevelAnswer& a, std::ostream& out) {
  if (!has_answers(*a.grid)) {
    out << "\nno Pareto front: none of these machines has an answer\n";
    return;
  }
  out << fmt::format("\nPareto front: no other is as fast {}\n",
                     a.grid_cost.empty() ? "with as little of every knob"
                                         : "and as cheap by " + visible(a.grid_cost));
  print_points(a, true, out);
}

void print_crossovers(const LevelGrid& grid, std::ostream& out) {
  if (grid.knobs.size() > 1 && !grid.crossovers.empty()) out << "\ncrossovers\n";
  for (const LevelCrossover& c : grid.crossovers) {
    const auto at = static_cast<std::size_t>(c.knob);
    std::string others;
    for (std::size_t k = 0; k < grid.knobs.size(); ++k) {
      if (k == at) continue;
      others += fmt::format("{}{} of {}", others.empty() ? "with " : ", ", grid.knobs[k].name,
                            display(grid.knobs[k], c.values[k]));
    }
    out << fmt::format("  {}from {}{} on: {}; below: {}\n", others.empty() ? "" : others + ", ",
                       grid.knobs.size() > 1 ? grid.knobs[at].name + " of " : "",
                       display(grid.knobs[at], c.values[at]), c.to, c.from);
  }
}

}  // namespace

void print_level_grid(const LevelAnswer& a, std::ostream& out) {
  if (!a.grid) return;
  out << "\n";
  if (a.grid->knobs.size() == 2 && a.grid->complete) {
    print_plane(a, out);
  } else {
    print_points(a, false, out);
  }
  if (has_front(a)) print_front(a, out);
  print_crossovers(*a.grid, out);
  if (!a.grid->complete) out << "  interrupted: this is what there is\n";
}

ordered_json json_of_point(const LevelAnswer& a, const std::optional<levels::LevelOptimum>& point) {
  ordered_json j{{"predicted_seconds", nullptr}, {"bottleneck", nullptr}};
  if (!point) return j;
  j["predicted_seconds"] = point->plan.time().value();
  j["bottleneck"] = levels::slowest_name(a.hierarchy, point->plan);
  j["bound_seconds"] = point->bound.value();
  j["intermediates"] = level_homes(a, point->plan);
  return j;
}

namespace {

// Of one knob `value`, of several `values`.
ordered_json json_of_values(const LevelGrid& grid, const std::vector<double>& values) {
  if (grid.knobs.size() == 1) return {{"value", values.front()}};
  return {{"values", values}};
}

ordered_json json_of_grid(const LevelAnswer& a) {
  const LevelGrid& grid = *a.grid;
  ordered_json knobs = ordered_json::array(), j;
  for (const Knob& k : grid.knobs) {
    knobs.push_back({{"knob", k.name}, {"unit", to_text(k.unit)}, {"value", k.base}});
  }
  if (grid.knobs.size() == 1) {
    j = knobs.front();
  } else {
    j["knobs"] = std::move(knobs);
  }
  j["cost_model"] = a.grid_cost.empty() ? ordered_json() : ordered_json(a.grid_cost);
  j["points"] = ordered_json::array();
  for (const LevelPoint& p : grid.points) {
    ordered_json point = json_of_values(grid, p.values);
    point.update(json_of_point(a, p.answer));
    if (!a.grid_cost.empty()) {
      point["cost"] = p.is_machine ? ordered_json(p.cost) : ordered_json();
    }
    if (has_front(a)) point["pareto"] = p.front;
    if (!p.answer) point["remark"] = p.state;
    j["points"].push_back(std::move(point));
  }
  j["crossovers"] = ordered_json::array();
  for (const LevelCrossover& c : grid.crossovers) {
    ordered_json one{{"knob", grid.knobs[static_cast<std::size_t>(c.knob)].name}};
    one.update(json_of_values(grid, c.values));
    one.update({{"from", c.from}, {"to", c.to}});
    j["crossovers"].push_back(std::move(one));
  }
  j["complete"] = grid.complete;
  return j;
}

}  // namespace

void add_level_grid(const LevelAnswer& a, ordered_json& record) {
  record["curves"] = ordered_json::array();
  if (!a.grid) return;
  if (a.grid->knobs.size() == 1) {
    record["curves"].push_back(json_of_grid(a));
  } else {
    record["grid"] = json_of_grid(a);
  }
}

void print_level_grid_csv(const std::vector<LevelAnswer>& all, std::ostream& out) {
  std::string head = "chain,row";
  for (const Knob& k : all.front().grid->knobs) {
    head += "," + csv_cell(fmt::format("{}_{}", k.name, to_text(k.unit)));
  }
  out << head
      << ",predicted_seconds,bound_seconds,bottleneck,intermediates,cost,pareto,knob,from,to\n";
  for (const LevelAnswer& a : all) {
    const auto row = [&](const char* kind, const std::vector<double>& values,
                         const std::vector<std::string>& rest) {
      std::vector<std::string> cells{a.tree.name, kind};
      for (double v : values) cells.push_back(csv_number(v));
      cells.insert(cells.end(), rest.begin(), rest.end());
      out << csv_line(cells);
    };
    const std::string no_cost;
    for (const LevelPoint& p : a.grid->points) {
      const std::string cost = a.grid_cost.empty() || !p.is_machine ? no_cost : csv_number(p.cost);
      if (!p.answer) {
        row("point", p.values, {"", "", p.state, "", cost, "", "", "", ""});
        continue;
      }
      const LevelPlan& plan = p.answer->plan;
      const std::string homes = level_homes(a, plan);
      row("point", p.values,
          {csv_number(plan.time().value()), csv_number(p.answer->bound.value()),
           levels::slowest_name(a.hierarchy, plan), homes == "-" ? "" : homes, cost,
           p.front ? "1" : "0", "", "", ""});
    }
    for (const LevelCrossover& c : a.grid->crossovers) {
      row("crossover", c.values,
          {"", "", "", "", "", "", a.grid->knobs[static_cast<std::size_t>(c.knob)].name, c.from,
           c.to});
    }
  }
}

}  // namespace tcsim::cli
