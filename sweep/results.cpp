#include "sweep/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "core/error.hpp"
#include "core/explore/pareto.hpp"
#include "core/io/json.hpp"
#include "core/levels/hierarchy.hpp"
#include "sweep/findings.hpp"
#include "sweep/report.hpp"
#include "sweep/tables.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

const char* const files[] = {"results.sqlite", "results.csv", "results.jsonl",
                             "schedules.csv",  "report.html", "manifest.json"};

// One design's points as sums.
DesignResult summed(const Study& study, DesignPoint design, std::vector<PointResult> points) {
  DesignResult d;
  d.design = std::move(design);
  d.points = std::move(points);
  const std::size_t links = link_count(study, d.design.with);
  d.link_seconds.resize(links);
  d.decided.resize(links + 1);
  for (std::size_t w = 0; w < d.points.size(); ++w) {
    const PointResult& r = d.points[w];
    const double weight = study.workloads[w].weight;
    d.seconds += weight * r.seconds();
    d.joules += weight * r.joules;
    d.traffic_bytes += weight * r.link_bytes.back();
    for (std::size_t l = 0; l < links; ++l) d.link_seconds[l] += weight * r.link_seconds[l];
    d.decided[static_cast<std::size_t>(r.bottleneck)] += weight * r.seconds();
  }
  switch (study.objective) {
    case StudyObjective::time:
      d.objective = d.seconds;
      break;
    case StudyObjective::traffic:
      d.objective = d.traffic_bytes;
      break;
    case StudyObjective::energy:
      d.objective = d.joules;
      break;
    case StudyObjective::area:
      d.objective = d.design.area.value_or(0);
      break;
    case StudyObjective::cost:
      d.objective = d.design.cost.value_or(0);
  }
  return d;
}

// What tables and sums index by.
void require_links(const Store& store, const PointResult& r, std::size_t links) {
  const bool fits = r.link_bytes.size() == links && r.link_seconds.size() == links &&
                    (r.simulated_bytes.empty() || r.simulated_bytes.size() == links) &&
                    r.bottleneck >= 0 && static_cast<std::size_t>(r.bottleneck) <= links;
  if (fits) return;
  store.refuse_damaged(fmt::format("point {} is of a machine with other levels", r.point));
}

ParetoFront::Values pareto_values(const DesignResult& d) {
  return {d.seconds, d.design.area.value_or(0), std::isnan(d.joules) ? 0 : d.joules};
}

nlohmann::ordered_json manifest(const Study& study, const Made& made, const Totals& totals,
                                std::int64_t front, const std::string& study_hash,
                                const LeftOutDesigns& left_out) {
  using json = nlohmann::ordered_json;
  json j;
  j["schema"] = sweep_schema;
  j["command"] = "sweep";
  j["tcsim_version"] = made.version;
  j["study"] = study.name;
  j["description"] = study.description;
  j["study_hash"] = study_hash;
  j["seed"] = study.seed;
  j["compute"] = to_text(study.compute);
  j["objective"] = to_text(study.objective);
  j["objective_unit"] = objective_unit(study.objective);
  j["sampling"] = to_text(study.sampling);
  for (const StudyMachine& m : study.machines) {
    const Accounting& a = m.machine.accounting;
    j["machines"].push_back({{"name", m.machine.name},
                             {"given", m.given},
                             {"hash", content_hash(m.machine)},
                             {"accounting",
                              {{"name", a.name},
                               {"write_backs", a.write_backs},
                               {"packing", a.packing},
                               {"compute_roof", a.compute_roof},
                               {"halve_register_loads", a.halve_register_loads}}}});
  }
  for (const StudyWorkload& w : study.workloads) {
    json one{{"name", w.name()}, {"label", w.label()}, {"sizes", w.sizes()}};
    one["layout"] = w.is_chain() ? json() : json(to_text(w.contraction().layout()));
    one["type"] = to_text(w.type());
    one["weight"] = w.weight;
    j["workloads"].push_back(std::move(one));
  }
  j["set"] = study.settings;
  j["knobs"] = study.knobs;
  if (study.cost) j["cost_model"] = {{"name", study.cost->name}, {"source", study.cost->source}};
  j["verdict"] = totals.verdict;
  j["designs"] = totals.designs;
  j["points"] = totals.points;
  j["searched_points"] = totals.searched;
  j["pareto_designs"] = front;
  j["left_out"] = json::array();
  for (const auto& [reason, s] : left_out) {
    j["left_out"].push_back({{"reason", reason}, {"designs", s.designs}, {"example", s.detail}});
  }
  j["made"] = {{"host", made.host},       {"processor", made.processor},
               {"started", made.started}, {"finished", made.finished},
               {"seconds", made.seconds}, {"threads", made.threads},
               {"ranks", made.ranks},     {"points_resumed", made.resumed}};
  return j;
}

}  // namespace

std::size_t DesignResult::bottleneck() const {
  return static_cast<std::size_t>(std::max_element(decided.begin(), decided.end()) -
                                  decided.begin());
}

std::size_t link_count(const Study& study, const Machine& machine) {
  if (!study.of_chains()) return machine.levels.size();
  return static_cast<std::size_t>(levels::hierarchy(machine, Bytes(8)).links());
}

std::string link_text(const Study& study, const Machine& machine, std::size_t link) {
  if (!study.of_chains()) return machine.link(LevelId{static_cast<int>(link)});
  return levels::hierarchy(machine, Bytes(8)).link(static_cast<int>(link));
}

std::string bottleneck_text(const Study& study, const Machine& machine, int bottleneck) {
  const auto link = static_cast<std::size_t>(bottleneck);
  return link < link_count(study, machine) ? link_text(study, machine, link) : "compute";
}

std::string design_text(const Study& study, const DesignPoint& design) {
  const StudyMachine& m = study.machines[design.machine];
  std::string text = study.machines.size() > 1 ? m.machine.name : "";
  for (std::size_t k = 0; k < design.values.size(); ++k) {
    if (design.base) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", study.knobs[k],
                        knob_text(m.axes[k].knob, design.values[k]));
  }
  if (design.base) text += text.empty() ? m.machine.name + " as it is" : " as it is";
  return text;
}

std::string objective_unit(StudyObjective objective) {
  switch (objective) {
    case StudyObjective::time:
      return "seconds";
    case StudyObjective::traffic:
      return "bytes";
    case StudyObjective::energy:
      return "joules";
    case StudyObjective::area:
      return "mm2";
    case StudyObjective::cost:
      break;
  }
  return "";
}

LeftOutDesigns for_each_design(const Study& study, Store& store,
                               const std::function<void(DesignResult&&)>& visit) {
  const std::int64_t workloads = std::ssize(study.workloads);
  Designs designs(study);
  Anchors anchors(study, {});
  LeftOutDesigns left_out;
  std::int64_t number = 0;
  std::vector<PointResult> points;  // of design `number`
  const auto finish = [&] {
    store.go_on();
    LeftOut why;
    std::optional<DesignPoint> design = designs.at(number, why);
    if (design) {
      if (auto lack = cannot_do(study, anchors, *design)) {
        why = std::move(*lack);
        design.reset();
      }
    }
    const std::int64_t expected = design ? workloads : 0;
    if (std::ssize(points) != expected) {
      store.refuse_damaged(fmt::format("design {} has {} points where the study has {}", number,
                                       points.size(), expected));
    }
    if (design) {
      for (const PointResult& r : points) require_links(store, r, link_count(study, design->with));
      visit(summed(study, std::move(*design), std::move(points)));
    } else {
      auto [group, is_new] = left_out.try_emplace(why.reason);
      if (is_new) group->second.detail = why.detail;
      ++group->second.designs;
    }
    points.clear();
    ++number;
  };
  store.for_each([&](PointResult&& r) {
    if (r.point >= study.point_count()) {
      store.refuse_damaged(fmt::format("the study has no point {}", r.point));
    }
    while (number < r.point / workloads) finish();
    points.push_back(std::move(r));
  });
  while (number < study.design_count()) finish();
  return left_out;
}

Totals write_results(const Study& study, Store& store, const fs::path& folder, const Made& made,
                     const std::function<void(double)>& progress) {
  Totals totals;
  const auto all = static_cast<double>(2 * study.design_count());
  double seen = 0;
  const auto step = [&] {
    if (progress && std::fmod(++seen, 256) == 0) progress(std::min(1.0, seen / all));
  };
  if (progress) progress(0);
  ParetoFront front;
  const LeftOutDesigns left_out = for_each_design(study, store, [&](DesignResult&& d) {
    if (!d.design.base) front.add(d.design.number, pareto_values(d));
    step();
  });
  std::unordered_set<std::int64_t> on_front;
  for (const ParetoFront::Entry& e : front.entries()) on_front.insert(e.design);

  TableWriter tables(study, folder);
  Findings findings(study);
  for_each_design(study, store, [&](DesignResult&& d) {
    ++totals.designs;
    totals.points += std::ssize(d.points);
    totals.searched += std::count_if(d.points.begin(), d.points.end(),
                                     [](const PointResult& r) { return r.searched; });
    const bool is_on_front = on_front.contains(d.design.number);
    tables.add(d, is_on_front);
    findings.add(d, is_on_front);
    step();
  });
  findings.finish();
  for (const std::string& said : findings.verdict()) {
    totals.verdict += (totals.verdict.empty() ? "" : " ") + said;
  }
  std::string text;
  for (const auto& [what, value] : meaning(study)) text += what + "=" + value + "\n";
  const std::string hash = text_hash(text);
  tables.finish({{"schema", fmt::format("{}", sweep_schema)},
                 {"tcsim_version", made.version},
                 {"study", study.name},
                 {"study_hash", hash},
                 {"seed", fmt::format("{}", study.seed)},
                 {"compute", to_text(study.compute)},
                 {"objective", to_text(study.objective)}});
  std::ostringstream report;
  report.exceptions(std::ios::badbit);  // without memory it would end early, and say nothing
  write_report(findings, {left_out, totals, made.version, hash}, report);
  const std::string told =
      json_text(manifest(study, made, totals, std::ssize(on_front), hash, left_out)) + "\n";
  for (const auto& [name, bytes] :
       {std::pair{"report.html", report.str()}, {"manifest.json", told}}) {
    ResultPart part(folder, name);
    part.write(bytes);
    part.end();
    part.keep();
  }
  ResultPart::name_all(folder, files);
  return totals;
}

}  // namespace tcsim
