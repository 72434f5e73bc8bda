// What a design costs: joules by level and mm2, and what twice as much of each knob would bring.
#include <algorithm>

#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

const char* const noModel =
    "No cost model is chosen. Choose one on the left, behind 'cost'; it says what a byte over each "
    "link and a multiply-add take, and how large each level is.";

std::string areaText(const std::optional<double>& mm2) {
  return mm2 ? fmt::format("{:.4g} mm2", *mm2) : "";
}

double joulesOf(const PartCost& p) {
  return (p.moving ? p.moving->value() : 0) + p.standing.value();
}

// The part of a pin's cost that is compared with one of the design's: the core, or what lies behind
// the same link. Null where there is none.
const PartCost* pinnedPart(const Evaluation& now, std::size_t part, const Evaluation& pin) {
  const std::vector<PartCost>& theirs = pin.cost->parts;
  if (part == 0) return &theirs.front();
  const auto link = pinnedLink(now.subject.machine, part - 1, pin.subject.machine);
  return link && *link + 1 < theirs.size() ? &theirs[*link + 1] : nullptr;
}

// A unit in which the largest has one to three digits before the point.
struct EnergyUnit {
  double joules;
  const char* name;
};
EnergyUnit energyUnitOf(double joules) {
  constexpr EnergyUnit units[] = {{1e-9, "nJ"}, {1e-6, "uJ"}, {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}};
  const EnergyUnit* unit = units;
  while (unit + 1 != std::end(units) && joules >= 1000 * unit->joules) ++unit;
  return *unit;
}

std::string allWords(const DesignCost& cost) {
  std::string text;
  if (cost.energy) text = fmt::format("{}, {:.4g} W", to_display(*cost.energy), cost.watts);
  if (cost.area) text += fmt::format("{}{}", text.empty() ? "" : ", ", areaText(cost.area));
  if (cost.price) text += fmt::format("{}price {:.4g}", text.empty() ? "" : ", ", *cost.price);
  return text.empty() ? "nothing is known of this machine" : text;
}

}  // namespace

Plot costPlot(const Scene& scene) {
  Plot p;
  p.title = "Energy and area";
  if (!scene.now || !scene.now->cost) {
    p.missing = scene.now ? noModel : whyMissing(scene);
    return p;
  }
  const Evaluation& e = *scene.now;
  const DesignCost& cost = *e.cost;
  p.title = fmt::format("Energy and area by {}: {}", e.subject.costModel->name, allWords(cost));
  p.subtitle = subtitleOf(e);
  double most = 0;
  const auto include = [&](const Evaluation& of) {
    if (!of.cost) return;
    for (const PartCost& part : of.cost->parts) most = std::max(most, joulesOf(part));
  };
  include(e);
  for (const Pinned& pin : scene.pins) {
    if (pin.evaluation) include(*pin.evaluation);
  }
  const EnergyUnit unit = energyUnitOf(most);
  const auto parts = cost.parts.size();
  for (std::size_t i = 0; i < parts; ++i) {
    const PartCost& part = cost.parts[i];
    const double at = static_cast<double>(parts - 1 - i);
    Bar moving;
    moving.at = at;
    moving.to = (part.moving ? part.moving->value() : 0) / unit.joules;
    moving.ink = i == 0 ? Ink::compute : linkInk(static_cast<int>(i) - 1);
    p.bars.push_back(moving);
    Bar standing;
    standing.at = at;
    standing.from = moving.to;
    standing.to = moving.to + part.standing.value() / unit.joules;
    standing.ink = Ink::faint;
    standing.label = part.moving || part.standing.value() > 0
                         ? to_display(Joules(joulesOf(part)))
                         : std::string("no energy in this model");
    if (part.area) standing.label += "   " + areaText(part.area);
    p.bars.push_back(standing);
    const std::string name =
        i == 0 ? "core" : e.subject.machine.link(LevelId{static_cast<int>(i) - 1});
    p.y.ticks.emplace_back(at, name);
  }
  p.x = {fmt::format("energy [{}]", unit.name),
         false,
         0,
         1.12 * std::max(most / unit.joules, 1e-9),
         {}};
  addPins(p, scene, [&](const Evaluation& of, const PinMark& mark) {
    if (!of.cost) return;
    for (std::size_t i = 0; i < parts; ++i) {
      const PartCost* const part = pinnedPart(e, i, of);
      if (part == nullptr) continue;
      const double joules = joulesOf(*part);
      mark(static_cast<double>(parts - 1 - i), joules / unit.joules, to_display(Joules(joules)));
    }
  });
  p.y.low = -1.2;  // room for the legend
  p.y.high = static_cast<double>(parts) - 0.4;
  p.legend.emplace_back("standing by", Ink::faint);
  return p;
}

Table costTable(const Scene& scene) {
  Table table{{"part", "area_mm2", "working_joules", "standing_joules"}, {}};
  std::vector<const Evaluation*> pins;
  for (const Pinned& pin : scene.pins) {
    if (!pin.evaluation || !pin.evaluation->cost) continue;
    pins.push_back(pin.evaluation.get());
    table.columns.insert(table.columns.end(),
                         {pinColumn(pin, "area_mm2"), pinColumn(pin, "joules")});
  }
  if (!scene.now || !scene.now->cost) return table;
  const DesignCost& cost = *scene.now->cost;
  const auto joules = [](const std::optional<Joules>& j) {
    return j ? Cell(to_display(*j), j->value()) : Cell();
  };
  const auto area = [](const std::optional<double>& mm2) {
    return mm2 ? Cell(fmt::format("{:.4g}", *mm2), *mm2) : Cell();
  };
  Joules standing;
  for (const PartCost& p : cost.parts) {
    std::vector<Cell> row{p.name, area(p.area), joules(p.moving), joules(p.standing)};
    const auto i = static_cast<std::size_t>(&p - cost.parts.data());
    for (const Evaluation* pin : pins) {
      const PartCost* const its = pinnedPart(*scene.now, i, *pin);
      row.push_back(its != nullptr ? area(its->area) : Cell());
      row.push_back(its != nullptr ? joules(Joules(joulesOf(*its))) : Cell());
    }
    table.rows.push_back(std::move(row));
    standing += p.standing;
  }
  std::optional<Joules> working;
  if (cost.energy) working = *cost.energy - standing;
  std::vector<Cell> all{"all", area(cost.area), joules(working), joules(standing)};
  for (const Evaluation* pin : pins) {
    all.push_back(area(pin->cost->area));
    all.push_back(joules(pin->cost->energy));
  }
  table.rows.push_back(std::move(all));
  return table;
}

Table worthTable(const Scene& scene) {
  Table table{{"twice the", "GFLOPS"}, {}};
  const bool costs = scene.now && scene.now->cost;
  if (costs) table.columns.insert(table.columns.end(), {"%_per_mm2", "%_per_W"});
  if (!scene.worth) return table;
  for (const Worth& w : scene.worth->knobs) {
    if (!(w.gain > 0)) continue;
    std::vector<Cell> row{w.knob.name, Cell(change_words(1 + w.gain), 1 + w.gain)};
    if (costs) {
      for (const std::optional<double>& per : {w.per_area(), w.per_watt()}) {
        row.push_back(per ? Cell(fmt::format("{:.3g}", *per), *per) : Cell("-"));
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string idleKnobs(const Scene& scene) {
  std::string text;
  if (!scene.worth) return text;
  for (const Worth& w : scene.worth->knobs) {
    if (!(w.gain > 0)) text += (text.empty() ? "" : ", ") + w.knob.name;
  }
  return text;
}

}  // namespace tcsim::gui
