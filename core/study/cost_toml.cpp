#include "core/study/cost_toml.hpp"

#include <algorithm>
#include <initializer_list>

#include "core/io/toml.hpp"
#include "core/machine/fields.hpp"
#include "core/text/name.hpp"
#include "core/units/nearest.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

using Names = std::vector<std::string>;
// What every level has; latencies are not in every file.
const Names& level_variables() {
  static const Names names = [] {
    Names all = formula_names<Level>();
    std::erase(all, "latency");
    return all;
  }();
  return names;
}
const Names& core_variables() {
  static const Names names = [] {
    Names all = formula_names<Core>();
    all.emplace_back("element");
    return all;
  }();
  return names;
}

void require_known(const MachineReader& r, const toml::node& node, const Expression& e,
                   const Names& known) {
  if (e.compares()) r.fail(node, "a formula does not compare", "write what it is worth");
  for (const std::string& v : e.variables()) {
    if (v == "core.frequency" || std::find(known.begin(), known.end(), v) != known.end()) continue;
    r.fail(node, fmt::format("'{}' is not known in this formula", v), one_of(v, known));
  }
}

CostRule read_formula(const MachineReader& r, const toml::node& node, std::string_view key,
                      const Names& known) {
  if (node.is_number()) {
    const auto* whole = node.as_integer();
    const double value =
        whole != nullptr ? static_cast<double>(whole->get()) : node.as_floating_point()->get();
    if (!(value >= 0) || !std::isfinite(value)) {
      r.fail(node, fmt::format("{} is no number from 0 up", key), "write one, or a formula");
    }
    return CostRule(Expression(fmt::format("{}", value)));
  }
  Expression e = read_expression(r, node, key);
  require_known(r, node, e, known);
  return CostRule(std::move(e));
}

CostRule read_table(const MachineReader& r, const toml::table& table, std::string_view key) {
  const auto capacities = r.list(table, "capacity", [&](const toml::node& n, std::string_view k) {
    return static_cast<double>(r.bytes(n, k).value());
  });
  const auto values = r.list(
      table, "value", [&](const toml::node& n, std::string_view k) { return r.number(n, k); });
  if (capacities.size() != values.size() || values.empty()) {
    r.fail(table,
           fmt::format("{}: {} capacities and {} values", key, capacities.size(), values.size()),
           "give one value for each capacity");
  }
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && capacities[i] <= capacities[i - 1]) {
      r.fail(table, fmt::format("{}: the capacities do not ascend", key), "sort them");
    }
    pairs.emplace_back(capacities[i], values[i]);
  }
  return CostRule(std::move(pairs));
}

CostRule read_rule(const MachineReader& r, const toml::node& node, std::string_view key,
                   const Names& known, bool of_level) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return read_formula(r, node, key, known);
  const bool tabular = of_level && !table->contains("formula");
  if (tabular) {
    r.known_keys(*table, key, {"capacity", "value", "source"});
  } else {
    r.known_keys(*table, key, {"formula", "source"});
  }
  CostRule rule = tabular ? read_table(r, *table, key)
                          : read_formula(r, r.required(*table, "formula", key), key, known);
  rule.source = r.text_or(*table, "source", "");
  return rule;
}

CostModel::Rules read_rules(const MachineReader& r, const toml::table& table,
                            std::initializer_list<const char*> keys, const Names& known,
                            bool of_level) {
  CostModel::Rules rules;
  for (const char* key : keys) {
    if (const toml::node* node = table.get(key)) {
      rules.emplace(key, read_rule(r, *node, key, known, of_level));
    }
  }
  return rules;
}

}  // namespace

Expression read_expression(const MachineReader& r, const toml::node& node, std::string_view key) {
  const std::string text = r.text(node, key);
  try {
    return Expression(text);
  } catch (const UsageError& e) {
    throw InputError(r.at(node), e.what(), "");
  }
}

CostModel read_cost_model(const MachineReader& r, const toml::table& table, bool is_file) {
  if (is_file) {
    r.known_keys(table, "a cost model", {"schema", "name", "source", "price", "core", "level"});
    const toml::node& schema = r.required(table, "schema", "the cost model");
    if (schema.value_exact<std::int64_t>() != 1) {
      r.fail(schema, "unknown schema", "this tcsim reads schema = 1");
    }
  } else {
    r.known_keys(table, "[cost]", {"name", "source", "price", "core", "level"});
  }
  CostModel model;
  model.name = r.text_or(table, "name", "cost");
  require_name(model.name, r.at(table), "the cost model's name");
  model.source = r.text_or(table, "source", "");
  if (const toml::node* node = table.get("core")) {
    const toml::table* core = node->as_table();
    if (core == nullptr) r.fail(*node, "core is no table", "write [core] or [cost.core]");
    r.known_keys(*core, "the core's costs", {"area", "fma", "power"});
    model.core = read_rules(r, *core, {"area", "fma", "power"}, core_variables(), false);
  }
  r.each_table(table, "level", is_file ? "level" : "cost.level", [&](const toml::table& t) {
    r.known_keys(t, "a level's costs", {"name", "area", "energy", "power"});
    const std::string name = r.text(r.required(t, "name", "a level's costs"), "name");
    for (const auto& [other, rules] : model.levels) {
      if (other == name) r.fail(t, fmt::format("{} has costs twice", name), "take one out");
    }
    model.levels.emplace_back(
        name, read_rules(r, t, {"area", "energy", "power"}, level_variables(), true));
  });
  if (const toml::node* node = table.get("price")) {
    model.price = CostRule(read_expression(r, *node, "price"));
    for (const std::string& v : model.price->formula()->variables()) {
      if (v != "area" && v.find('.') == std::string::npos) {
        r.fail(*node, fmt::format("'{}' is not known in a price", v),
               "use area, or a machine's number such as L3.capacity");
      }
    }
  }
  return model;
}

CostModel parse_cost_model(std::string_view toml, const std::string& place) {
  const MachineReader r(place);
  return read_cost_model(r, parse_toml(toml, place), true);
}

}  // namespace tcsim
