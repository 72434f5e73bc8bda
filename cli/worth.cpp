#include "cli/worth.hpp"

#include <fmt/format.h>

#include "core/units/text.hpp"

namespace tcsim::cli {

using nlohmann::ordered_json;

namespace {

ordered_json or_null(const std::optional<double>& v) {
  return v ? ordered_json(*v) : ordered_json(nullptr);
}
ordered_json or_null(const std::optional<Joules>& v) {
  return v ? ordered_json(v->value()) : ordered_json(nullptr);
}

}  // namespace

ordered_json json_of(const CostModel& model, const DesignCost& cost) {
  ordered_json j{{"model", model.name},
                 {"area_mm2", or_null(cost.area)},
                 {"price", or_null(cost.price)},
                 {"joules", or_null(cost.energy)},
                 {"watts", cost.watts}};
  j["parts"] = ordered_json::array();
  for (const PartCost& p : cost.parts) {
    j["parts"].push_back({{"name", p.name},
                          {"area_mm2", or_null(p.area)},
                          {"joules", or_null(p.moving)},
                          {"standing_joules", p.standing.value()}});
  }
  return j;
}

ordered_json json_of(const std::vector<Worth>& worth) {
  ordered_json all = ordered_json::array();
  for (const Worth& w : worth) {
    all.push_back({{"knob", w.knob.name},
                   {"value", w.value},
                   {"factor", w.factor},
                   {"predicted_seconds", w.time.value()},
                   {"bottleneck", w.bottleneck},
                   {"gain", w.gain},
                   {"area_mm2", or_null(w.area)},
                   {"watts", or_null(w.watts)},
                   {"joules", or_null(w.energy)},
                   {"gain_percent_per_mm2", or_null(w.per_area())},
                   {"gain_percent_per_watt", or_null(w.per_watt())}});
  }
  return all;
}

void print_cost(const CostModel& model, const DesignCost& cost, std::ostream& out) {
  const auto area = [](const std::optional<double>& mm2) {
    return mm2 ? fmt::format("{:.4g} mm2", *mm2) : std::string("-");
  };
  out << fmt::format("\n  energy and area by {}\n    {:<10}{:>14}{:>16}{:>16}\n", model.name,
                     "part", "area", "working", "standing");
  for (const PartCost& p : cost.parts) {
    out << fmt::format("    {:<10}{:>14}{:>16}{:>16}\n", p.name, area(p.area),
                       p.moving ? to_display(*p.moving) : "-",
                       p.standing.value() > 0 ? to_display(p.standing) : "-");
  }
  out << fmt::format("    {:<10}{:>14}{:>16}", "all", area(cost.area),
                     cost.energy ? to_display(*cost.energy) : "-");
  if (cost.watts > 0) out << fmt::format("{:>16}", fmt::format("{:.4g} W", cost.watts));
  if (cost.price) out << fmt::format("   price {:.4g}", *cost.price);
  out << "\n";
}

void print_worth(const std::vector<Worth>& worth, std::ostream& out) {
  out << "\n  would more help? what brings most for what it costs first\n";
  std::string idle;
  for (const Worth& w : worth) {
    if (w.gain > 0) {
      out << fmt::format("    {:<22}{:>14}{:>12}  {}\n", w.knob.name, display(w.knob, w.value),
                         fmt::format("{:.4g}x", w.factor), worth_words(w));
    } else {
      idle += (idle.empty() ? "" : ", ") + w.knob.name;
    }
  }
  if (!idle.empty()) out << "    nothing: " << idle << "\n";
}

}  // namespace tcsim::cli
