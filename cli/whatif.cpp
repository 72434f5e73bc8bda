#include "cli/whatif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/describe.hpp"
#include "cli/result.hpp"
#include "cli/version.hpp"
#include "cli/worth.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

std::string times(double factor) { return fmt::format("{:.4g}x", factor); }

double gflops(const Choice& c) { return c.prediction.rate.value() / 1e9; }

// Sums over workloads at every value of one knob, as far as all of them got.
struct Total {
  double value = 0, factor = 0;
  Seconds time;
  std::map<std::string, int> bottlenecks;  // how many workloads each decides
};
std::vector<Total> totals(const std::vector<WhatIf>& all) {
  std::vector<Total> sums;
  if (all.empty() || !all.front().curve) return sums;
  std::size_t points = all.front().curve->points.size();
  for (const WhatIf& w : all) points = std::min(points, w.curve ? w.curve->points.size() : 0);
  for (std::size_t i = 0; i < points; ++i) {
    const CurvePoint& first = all.front().curve->points[i];
    Total t{first.value, first.factor, {}, {}};
    for (const WhatIf& w : all) {
      const CurvePoint& p = w.curve->points[i];
      if (p.value != first.value) return {};  // one of them was interrupted
      t.time += p.choice.time();
      ++t.bottlenecks[p.bottleneck];
    }
    sums.push_back(std::move(t));
  }
  return sums;
}

std::string counted(const std::map<std::string, int>& bottlenecks) {
  std::string text;
  for (const auto& [name, count] : bottlenecks) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

// JSON.

ordered_json prediction_json(const Contraction& workload, const Choice& c,
                             const std::string& bottleneck) {
  return {{"predicted_seconds", c.time().value()},
          {"predicted_gflops", gflops(c)},
          {"bottleneck", bottleneck},
          {"schedule", to_line(c.schedule, workload)}};
}

ordered_json points_json(const WhatIf& w) {
  ordered_json points = ordered_json::array();
  if (w.curve) {
    for (const CurvePoint& p : w.curve->points) {
      ordered_json j{{"value", p.value}, {"factor", p.factor}};
      j.update(prediction_json(w.workload, p.choice, p.bottleneck));
      if (p.sure) {
        j["bottleneck_share"] = p.sure->share(p.bottleneck);
        j["predicted_seconds_5"] = p.sure->low.value();
        j["predicted_seconds_95"] = p.sure->high.value();
      }
      points.push_back(std::move(j));
    }
  }
  if (w.plane) {
    for (const PlanePoint& p : w.plane->points) {
      ordered_json j{{"values", p.values}, {"factors", p.factors}};
      if (p.choice) j.update(prediction_json(w.workload, *p.choice, p.bottleneck));
      if (!p.remark.empty()) j["remark"] = p.remark;
      if (w.plane_costs && p.choice) {
        const auto i = static_cast<std::size_t>(&p - w.plane->points.data());
        j[w.plane_costs->is_price ? "price" : "area_mm2"] = w.plane_costs->costs[i];
        j["pareto"] = static_cast<bool>(w.plane_costs->front[i]);
      }
      points.push_back(std::move(j));
    }
  }
  return points;
}

}  // namespace

ordered_json json_of(const WhatIf& w) {
  ordered_json j{{"schema", results_schema},
                 {"command", "whatif"},
                 {"tcsim_version", version},
                 {"workload", json_of(w.workload)},
                 {"machine", {{"name", w.machine.name}, {"hash", content_hash(w.machine)}}}};
  j.update(prediction_json(w.workload, w.base.choice, w.base.bottleneck));
  j["uncertainty"] = json_of(w.base.sure);
  j["accounting"] = json_of(w.machine.accounting);
  add_warnings(j, w.machine);
  j["fixed_schedule"] = w.fixed_schedule;
  j["complete"] = w.complete;
  j["vary"] = ordered_json::array();
  for (const KnobRange& r : w.ranges) {
    ordered_json knob{
        {"knob", r.knob.name}, {"unit", to_text(r.knob.unit)}, {"value", r.knob.base}};
    if (!r.remark.empty()) knob["remark"] = r.remark;
    j["vary"].push_back(std::move(knob));
  }
  j["points"] = points_json(w);
  j["crossovers"] = ordered_json::array();
  if (w.curve) {
    for (const Crossover& c : w.curve->crossovers) j["crossovers"].push_back(json_of(c));
  }
  if (w.advice) {
    j["elasticities"] = json_of(w.advice->elasticities);
    if (w.advice->next) j["next_crossover"] = json_of(*w.advice->next);
    j["larger_caches"] = json_of(w.advice->caches);
    j["text"] = w.advice->words;
  }
  if (w.cost) j["cost"] = json_of(*w.model, *w.cost);
  if (!w.worth.empty()) j["worth"] = json_of(w.worth);
  return j;
}

namespace {

void print_json(const std::vector<WhatIf>& all, bool suite, std::ostream& out) {
  if (!suite && all.size() == 1) {
    out << json_text(json_of(all.front())) << "\n";
    return;
  }
  ordered_json j{{"schema", results_schema},
                 {"command", "whatif"},
                 {"tcsim_version", version},
                 {"results", ordered_json::array()}};
  for (const WhatIf& w : all) j["results"].push_back(json_of(w));
  j["total"] = ordered_json::array();
  for (const Total& t : totals(all)) {
    j["total"].push_back({{"value", t.value},
                          {"factor", t.factor},
                          {"predicted_seconds", t.time.value()},
                          {"bottlenecks", t.bottlenecks}});
  }
  out << json_text(j) << "\n";
}

// CSV: rows of points, crossovers and elasticities, told apart by the column `row`.

class Csv {
 public:
  explicit Csv(std::ostream& out) : out_(out) {
    out_ << "schema,command,tcsim_version,workload,label,sizes,type,layout,machine,machine_hash,"
            "accounting,row,knob,unit,value,factor,knob_2,unit_2,value_2,factor_2,"
            "predicted_seconds,predicted_gflops,bottleneck,from,to,elasticity,schedule,"
            "bottleneck_share,predicted_seconds_5,predicted_seconds_95,value_5,value_95,"
            "gaining_share,area_mm2,watts,joules\n";
  }

  void print(const WhatIf& w) {
    head_ = {fmt::format("{}", results_schema),
             "whatif",
             version,
             w.workload.name(),
             w.workload.label(),
             w.workload.sizes(),
             to_text(w.workload.type()),
             to_text(w.workload.layout()),
             w.machine.name,
             content_hash(w.machine),
             w.machine.accounting.name};
    if (w.curve) {
      const Knob& k = w.curve->knob;
      for (const CurvePoint& p : w.curve->points) {
        row("point", {&k, p.value, p.factor}, {}, prediction(w.workload, p.choice, p.bottleneck),
            {p.sure ? csv_number(p.sure->share(p.bottleneck)) : "",
             p.sure ? csv_number(p.sure->low.value()) : "",
             p.sure ? csv_number(p.sure->high.value()) : "", "", "", ""});
      }
      for (const Crossover& c : w.curve->crossovers) {
        row("crossover", {&k, c.value, c.factor}, {}, {"", "", "", c.from, c.to, "", ""},
            {"", "", "", c.band ? number(c.band->low) : "", c.band ? number(c.band->high) : "",
             ""});
      }
    }
    if (w.plane) {
      for (const PlanePoint& p : w.plane->points) {
        row("point", {&w.plane->knobs[0], p.values[0], p.factors[0]},
            {&w.plane->knobs[1], p.values[1], p.factors[1]},
            p.choice ? prediction(w.workload, *p.choice, p.bottleneck)
                     : std::vector<std::string>{"", "", "", "", "", "", ""});
      }
    }
    for (const Worth& x : w.worth) {
      row("worth", {&x.knob, x.value, x.factor}, {},
          {csv_number(x.time.value()), csv_number(w.workload.flops() / x.time.value() / 1e9),
           x.bottleneck, "", "", "", ""},
          std::vector<std::string>(6),
          {number(x.area), number(x.watts), x.energy ? csv_number(x.energy->value()) : ""});
    }
    if (!w.advice) return;
    for (const Elasticity& e : w.advice->elasticities.knobs) {
      for (const auto& step : {e.up, e.down}) {
        if (!step) continue;
        row("elasticity", {&e.knob, step->value, step->factor}, {},
            {csv_number(step->time.value()),
             csv_number(w.workload.flops() / step->time.value() / 1e9), step->bottleneck, "", "",
             csv_number(step->elasticity), ""},
            {"", "", "", "", "", number(step->gains)});
      }
    }
  }

 private:
  struct At {
    const Knob* knob = nullptr;
    double value = 0, factor = 0;
  };

  static std::vector<std::string> prediction(const Contraction& workload, const Choice& c,
                                             const std::string& bottleneck) {
    return {csv_number(c.time().value()), csv_number(gflops(c)), bottleneck, "", "", "",
            to_line(c.schedule, workload)};
  }

  static std::string number(const std::optional<double>& value) {
    return value ? csv_number(*value) : "";
  }

  // `sure`: the columns behind the schedule, `cost`: those of a cost model behind them.
  void row(const char* kind, const At& first, const At& second,
           const std::vector<std::string>& rest,
           const std::vector<std::string>& sure = std::vector<std::string>(6),
           const std::vector<std::string>& cost = std::vector<std::string>(3)) {
    std::vector<std::string> cells = head_;
    cells.emplace_back(kind);
    for (const At& at : {first, second}) {
      if (at.knob == nullptr) {
        cells.insert(cells.end(), 4, "");
      } else {
        cells.push_back(at.knob->name);
        cells.emplace_back(to_text(at.knob->unit));
        cells.push_back(csv_number(at.value));
        cells.push_back(csv_number(at.factor));
      }
    }
    cells.insert(cells.end(), rest.begin(), rest.end());
    cells.insert(cells.end(), sure.begin(), sure.end());
    cells.insert(cells.end(), cost.begin(), cost.end());
    out_ << csv_line(cells);
  }

  std::ostream& out_;
  std::vector<std::string> head_;
};

// Tables.

// Schedules get numbers in the order in which they come up.
class Numbered {
 public:
  std::size_t of(const Schedule& s) {
    const auto found = std::find(seen_.begin(), seen_.end(), s);
    if (found == seen_.end()) seen_.push_back(s);
    return static_cast<std::size_t>(std::find(seen_.begin(), seen_.end(), s) - seen_.begin()) + 1;
  }

 private:
  std::vector<Schedule> seen_;
};

// "41.2 ms to 43.5 ms"
std::string band_cell(const std::optional<Uncertainty>& sure) {
  return sure ? fmt::format("{} to {}", to_display(sure->low), to_display(sure->high)) : "";
}

void print_curve(const Curve& curve, std::ostream& out) {
  const bool sure = curve.base.sure.has_value();
  out << fmt::format("\n  {:<22}{:>10}{:>14}{}{:>16}  {:<16}{}{}\n", curve.knob.name, "factor",
                     "time", sure ? fmt::format("{:>26}", "in 90 of 100 draws") : "", "rate",
                     "bottleneck", sure ? fmt::format("{:<16}", "of 100 draws") : "", "schedule");
  Numbered schedules;
  const double least = curve.points.empty() ? curve.knob.base : curve.points.front().value;
  for (const CurvePoint& p : curve.points) {
    out << fmt::format(
        "  {:<22}{:>10}{:>14}{}{:>16}  {:<16}{}{}\n", display(curve.knob, p.value, least),
        times(p.factor), to_display(p.choice.time()),
        sure ? fmt::format("{:>26}", band_cell(p.sure)) : "",
        fmt::format("{:.1f} GFLOPS", gflops(p.choice)), p.bottleneck,
        sure ? fmt::format("{:<16}", p.sure ? hundredths(p.sure->share(p.bottleneck)) : "") : "",
        schedules.of(p.choice.schedule));
  }
  out << "\n  crossovers\n";
  if (curve.crossovers.empty()) out << "    none in this range\n";
  for (const Crossover& c : curve.crossovers) {
    out << fmt::format("    {:<14}{:>12}  {} to {}\n", display(curve.knob, c.value, least),
                       change_words(c.factor), c.from, c.to);
    if (c.band) {
      out << fmt::format("    {:<26}  {}\n", "", band_words(*c.band, curve.knob.base));
    }
    for (const PackingVariant& v : c.packing) {
      out << fmt::format("    {:<14}{:>12}  {}{}\n", "", change_words(v.factor), v.counted,
                         &v == &c.packing.front() ? " (this accounting)" : "");
    }
  }
}

void print_plane(const Plane& plane, const std::optional<PlaneCosts>& costs, std::ostream& out) {
  const std::size_t columns = static_cast<std::size_t>(std::count_if(
      plane.points.begin(), plane.points.end(),
      [&](const PlanePoint& p) { return p.values[0] == plane.points.front().values[0]; }));
  const auto shown = [&](std::size_t knob, const PlanePoint& p) {
    return display(plane.knobs[knob], p.values[knob], plane.points.front().values[knob]);
  };
  const auto table = [&](const char* what, auto&& cell) {
    out << fmt::format("\n  {}; down {}, across {}\n  {:<14}", what, plane.knobs[0].name,
                       plane.knobs[1].name, "");
    for (std::size_t c = 0; c < columns; ++c) {
      out << fmt::format("{:>14}", shown(1, plane.points[c]));
    }
    for (std::size_t i = 0; i < plane.points.size(); ++i) {
      const PlanePoint& p = plane.points[i];
      if (i % columns == 0) out << fmt::format("\n  {:<14}", shown(0, p));
      out << fmt::format("{:>14}", p.choice ? cell(p) : "-");
    }
    out << "\n";
  };
  table("bottleneck", [](const PlanePoint& p) { return p.bottleneck; });
  table("time", [](const PlanePoint& p) { return to_display(p.choice->time()); });
  if (costs) {
    table(costs->is_price ? "price; * none as quick is cheaper"
                          : "area in mm2; * none as quick is smaller",
          [&](const PlanePoint& p) {
            const auto i = static_cast<std::size_t>(&p - plane.points.data());
            return fmt::format("{}{:.4g}", costs->front[i] ? "* " : "", costs->costs[i]);
          });
  }
  std::vector<std::string> reasons;
  for (const PlanePoint& p : plane.points) {
    if (p.remark.empty() || std::find(reasons.begin(), reasons.end(), p.remark) != reasons.end()) {
      continue;
    }
    reasons.push_back(p.remark);
  }
  if (reasons.empty()) return;
  out << fmt::format("  -  no such machine: {}{}\n", reasons.front(),
                     reasons.size() > 1 ? ", and so on" : "");
}

std::string step_cell(const std::optional<KnobStep>& s, Seconds base) {
  if (!s) return fmt::format("{:>12}{:>12}{:>9}", "-", "-", "-");
  return fmt::format("{:>12}{:>12}{:>9.3f}", change_words(s->factor), change_words(s->time / base),
                     s->elasticity == 0 ? 0.0 : s->elasticity);
}

void print_elasticities(const Elasticities& all, std::ostream& out) {
  out << fmt::format(
      "\n  elasticities, d log time / d log knob\n    {:<22}{:>14}{:>12}{:>12}{:>9}"
      "{:>12}{:>12}{:>9}\n",
      "knob", "value", "more", "time", "", "less", "time", "");
  for (const Elasticity& e : all.knobs) {
    out << fmt::format("    {:<22}{:>14}{}{}\n", e.knob.name, display(e.knob, e.knob.base),
                       step_cell(e.up, all.base.time()), step_cell(e.down, all.base.time()));
  }
}

}  // namespace

void print_table(const WhatIf& w, std::ostream& out) {
  out << heading(w.workload, w.machine, "");
  out << fmt::format("as it is: {}, {:.1f} GFLOPS, {} decides{}\n",
                     to_display(w.base.choice.time()), gflops(w.base.choice), w.base.bottleneck,
                     w.fixed_schedule ? "; its schedule is kept"
                                      : "; every machine gets the best schedule for it");
  if (w.base.sure) {
    out << fmt::format("how sure: {}; {}\n", sure_words(w.base.bottleneck, *w.base.sure),
                       time_band_words(*w.base.sure));
  } else {
    out << "how sure: " << no_spread_words << "\n";
  }
  for (const KnobRange& r : w.ranges) {
    if (!r.remark.empty()) out << r.remark << "\n";
  }
  if (w.curve) print_curve(*w.curve, out);
  if (w.plane) print_plane(*w.plane, w.plane_costs, out);
  if (w.advice) {
    print_elasticities(w.advice->elasticities, out);
    out << "\n  " << w.advice->words << "\n";
  }
  if (w.cost) print_cost(*w.model, *w.cost, out);
  if (!w.worth.empty()) print_worth(w.worth, out);
  if (!w.complete) out << "\n  interrupted: this is what there is\n";
}

void print_total(const std::vector<WhatIf>& all, std::ostream& out) {
  const std::vector<Total> sums = totals(all);
  if (sums.empty()) return;
  const Knob& knob = all.front().curve->knob;
  out << fmt::format("\nall {} workloads\n  {:<22}{:>10}{:>14}  {}\n", all.size(), knob.name,
                     "factor", "time", "bottlenecks");
  for (const Total& t : sums) {
    out << fmt::format("  {:<22}{:>10}{:>14}  {}\n", display(knob, t.value, sums.front().value),
                       times(t.factor), to_display(t.time), counted(t.bottlenecks));
  }
}

void print(const std::vector<WhatIf>& all, Format format, bool suite, std::ostream& out) {
  switch (format) {
    case Format::json:
      return print_json(all, suite, out);
    case Format::csv: {
      Csv csv(out);
      for (const WhatIf& w : all) csv.print(w);
      return;
    }
    case Format::table:
      for (const WhatIf& w : all) {
        if (&w != &all.front()) out << "\n";
        print_table(w, out);
      }
      if (suite) print_total(all, out);
  }
}

}  // namespace tcsim::cli
