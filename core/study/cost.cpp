#include "core/study/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/machine/fields.hpp"

namespace tcsim {

namespace {

// A field that formulas know.
template <class Owner>
std::optional<double> known(const Owner& owner, std::string_view name) {
  bool in_formulas = false;
  for_each_field<Owner>([&](const Declared& f) { in_formulas |= f.name == name && f.in_formulas; });
  return in_formulas ? number_of(owner, name) : std::nullopt;
}

std::optional<double> of_level(const Machine& m, const Level& l, std::string_view name) {
  const bool cache = l.kind == LevelKind::cache;
  if (name == "capacity" && l.capacity.value == Bytes(0)) return {};
  if (!cache && (name == "ways" || name == "line" || name == "sets")) return {};
  if (name == "sets") return static_cast<double>(l.sets());
  if (name == "bandwidth") return l.bandwidth.value.at(m.core.frequency.value).value();
  return known(l, name);
}

std::optional<double> of_core(const Core& c, std::string_view name) { return known(c, name); }

Expression::Lookup level_lookup(const Machine& m, const Level& l) {
  return [&](const std::string& name) {
    if (name == "core.frequency") return m.core.frequency.value.value();
    return of_level(m, l, name).value_or(std::nan(""));
  };
}

Expression::Lookup core_lookup(const Machine& m, double element = 8) {
  return [&m, element](const std::string& name) {
    if (name == "element") return element;
    const std::string_view plain =
        name.starts_with("core.") ? std::string_view(name).substr(5) : std::string_view(name);
    return of_core(m.core, plain).value_or(std::nan(""));
  };
}

const CostRule* rule(const CostModel::Rules* rules, const char* what) {
  if (rules == nullptr) return nullptr;
  const auto found = rules->find(what);
  return found == rules->end() ? nullptr : &found->second;
}

}  // namespace

double CostRule::value(const Expression::Lookup& lookup) const {
  if (formula_) return formula_->value(lookup);
  if (table_.size() == 1) return table_.front().second;
  const double x = std::log(lookup("capacity"));
  std::size_t i = 1;
  while (i + 1 < table_.size() && x > std::log(table_[i].first)) ++i;
  const double x0 = std::log(table_[i - 1].first), x1 = std::log(table_[i].first);
  const double y0 = std::log(table_[i - 1].second), y1 = std::log(table_[i].second);
  return std::exp(y0 + (y1 - y0) * (x - x0) / (x1 - x0));
}

std::string CostRule::text() const {
  if (formula_) return formula_->text();
  std::string t;
  for (const auto& [capacity, value] : table_) t += fmt::format("{}:{} ", capacity, value);
  return t;
}

const CostModel::Rules* CostModel::rules_of(const Level& level) const {
  const auto named = [&](std::string_view wanted) -> const Rules* {
    for (const auto& [n, rules] : levels) {
      if (n == wanted) return &rules;
    }
    return nullptr;
  };
  if (const Rules* own = named(level.name)) return own;
  return level.kind == LevelKind::cache ? named("caches") : nullptr;
}

std::vector<CostModel::Part> CostModel::parts(const Machine& machine) const {
  const auto part = [](const std::string& what, const Rules* rules,
                       const Expression::Lookup& lookup) {
    Part p{what, {}, 0};
    if (const CostRule* r = rule(rules, "area")) p.area = r->value(lookup);
    if (const CostRule* r = rule(rules, "power")) p.power = r->value(lookup);
    return p;
  };
  std::vector<Part> all{part("core", &core, core_lookup(machine))};
  for (const Level& l : machine.levels) {
    all.push_back(part(l.name, rules_of(l), level_lookup(machine, l)));
  }
  return all;
}

std::optional<double> CostModel::area(const Machine& machine) const {
  std::optional<double> sum;
  for (const Part& p : parts(machine)) {
    if (p.area) sum = sum.value_or(0) + *p.area;
  }
  return sum;
}

std::optional<double> CostModel::cost(const Machine& machine) const {
  if (!price) return {};
  const double mm2 = area(machine).value_or(0);
  const auto core_of = core_lookup(machine);
  return price->value([&](const std::string& what) {
    if (what == "area") return mm2;
    if (const auto q = quantity(machine, what)) return *q;
    return core_of(what);
  });
}

double CostModel::power(const Machine& machine) const {
  double watts = 0;
  for (const Part& p : parts(machine)) watts += p.power;
  return watts;
}

double CostModel::fma_energy(const Machine& machine, Bytes element) const {
  const CostRule* r = rule(&core, "fma");
  if (r == nullptr) return 0;
  return 1e-12 * r->value(core_lookup(machine, static_cast<double>(element.value())));
}

Machine CostModel::with_energy(Machine machine) const {
  std::vector<std::optional<double>> picojoules;
  for (const Level& l : machine.levels) {
    const CostRule* r = rule(rules_of(l), "energy");
    picojoules.push_back(r == nullptr ? std::optional<double>()
                                      : r->value(level_lookup(machine, l)));
  }
  for (std::size_t i = 0; i < machine.levels.size(); ++i) {
    if (!picojoules[i]) continue;
    machine.levels[i].energy = {JoulesPerByte(1e-12 * *picojoules[i]), Origin::assumed, name};
  }
  return machine;
}

std::string CostModel::text() const {
  std::string t = fmt::format("{}|{}|", name, source);
  const auto add = [&](const std::string& owner, const Rules& rules) {
    for (const auto& [what, r] : rules) {
      t += fmt::format("{}.{}={} ({})|", owner, what, r.text(), r.source);
    }
  };
  add("core", core);
  for (const auto& [level, rules] : levels) add(level, rules);
  if (price) t += "price=" + price->text();
  return t;
}

std::optional<double> quantity(const Machine& machine, std::string_view name) {
  const auto dot = name.find('.');
  if (dot == name.npos) return {};
  const std::string_view owner = name.substr(0, dot), field = name.substr(dot + 1);
  if (owner == "core") return of_core(machine.core, field);
  for (const Level& l : machine.levels) {
    if (l.name == owner) return of_level(machine, l, field);
  }
  return {};
}

std::vector<std::string> quantities(const Machine& machine) {
  std::vector<std::string> all;
  for (const Level& l : machine.levels) {
    for (std::string_view name : formula_names<Level>()) {
      if (of_level(machine, l, name)) all.push_back(fmt::format("{}.{}", l.name, name));
    }
  }
  for (std::string_view name : formula_names<Core>()) all.push_back(fmt::format("core.{}", name));
  return all;
}

}  // namespace tcsim
