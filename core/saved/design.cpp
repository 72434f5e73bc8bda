#include "core/saved/design.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/text/safe.hpp"

namespace tcsim {

std::string Design::value_of(std::string_view knob) const {
  const auto found = std::ranges::find(overrides, knob, &Override::knob);
  return found == overrides.end() ? "" : found->value;
}

Design Design::with(const std::string& knob, const std::string& value) const {
  Design d = *this;
  const auto found = std::ranges::find(d.overrides, knob, &Override::knob);
  if (value.empty()) {
    if (found != d.overrides.end()) d.overrides.erase(found);
  } else if (found != d.overrides.end()) {
    found->value = value;
  } else {
    d.overrides.push_back({knob, value});
  }
  return d;
}

std::string changed_knob(const Design& before, const Design& after) {
  std::string changed;
  for (const Design* d : {&before, &after}) {
    for (const Override& o : d->overrides) {
      if (before.value_of(o.knob) == after.value_of(o.knob) || o.knob == changed) continue;
      if (!changed.empty()) return "";
      changed = o.knob;
    }
  }
  const auto rest = [](Design d) {
    d.overrides.clear();
    return d;
  };
  return rest(before) == rest(after) ? changed : "";
}

Accounting accounting_named(const std::string& name) {
  if (name == "honest") return Accounting::honest();
  if (name == "paper") return Accounting::paper();
  throw UsageError("accounting", fmt::format("'{}' is not known", name), "use honest or paper");
}

Machine changed_machine(const Machine& base, const Design& design,
                        std::vector<std::string>* notes) {
  Machine m = base;
  for (const Override& o : design.overrides) {
    Overridden changed = override_knob(m, o.knob + "=" + o.value);
    m = std::move(changed.machine);
    if (notes != nullptr && !changed.note.empty()) notes->push_back(changed.note);
  }
  if (!design.overrides.empty()) check(m, "set");
  if (!design.accounting.empty()) m.accounting = accounting_named(design.accounting);
  return m;
}

std::vector<std::string> to_arguments(const Design& d) {
  std::vector<std::string> all{d.workload.name};
  const auto option = [&](const char* name, const std::string& value) {
    all.emplace_back(name);
    all.push_back(value);
  };
  if (!d.workload.sizes.empty()) option("--size", d.workload.sizes);
  if (d.workload.layout) option("--layout", to_text(*d.workload.layout));
  if (d.workload.type) option("--type", to_text(*d.workload.type));
  option("--machine", d.machine);
  for (const Override& o : d.overrides) option("--set", o.knob + "=" + o.value);
  if (!d.accounting.empty()) option("--accounting", d.accounting);
  if (!d.schedule.empty()) option("--schedule", d.schedule);
  if (!d.cost.empty()) option("--cost", d.cost);
  return all;
}

std::string command_line(const std::string& command, const Design& design,
                         const std::vector<std::string>& more) {
  std::string line = "tcsim " + command;
  Design asked = design;
  if (command != "whatif") asked.cost.clear();
  for (const std::string& word : to_arguments(asked)) line += " " + shell_word(word);
  for (const std::string& word : more) line += " " + shell_word(word);
  return line;
}

}  // namespace tcsim
