#include "core/study/draft.hpp"

#include <fmt/format.h>

#include "core/text/safe.hpp"

namespace tcsim {

std::string to_toml(const StudyDraft& draft) {
  std::string text = fmt::format("schema = 1\nname = {}\n", toml_string(draft.name));
  const auto line = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{} = {}\n", key, toml_string(value));
  };
  const Design& d = draft.design;
  const bool label = needs_sizes(d.workload.name);
  line("description", draft.description);
  const auto list = [&](const char* key, const std::vector<std::string>& values) {
    std::string all;
    for (const std::string& v : values) all += (all.empty() ? "" : ", ") + toml_string(v);
    if (!values.empty()) text += fmt::format("{} = [{}]\n", key, all);
  };
  const auto suite = draft.whole_suite ? whole_suite(d.workload) : std::nullopt;
  if (!label) list("workloads", {suite ? suite->name : d.workload.name});
  std::vector<std::string> machines{d.machine};
  machines.insert(machines.end(), draft.machines.begin(), draft.machines.end());
  list("machines", machines);
  line("accounting", d.accounting);
  line("cost", d.cost);
  list("constraints", draft.constraints);
  line("compute", to_text(draft.compute));
  line("objective", to_text(draft.objective));
  if (label) {
    text += fmt::format("\n[[workload]]\nlabel = {}\n", toml_string(d.workload.name));
    line("sizes", d.workload.sizes);
    if (d.workload.layout) line("layout", to_text(*d.workload.layout));
    if (d.workload.type) line("type", to_text(*d.workload.type));
  }
  if (!d.overrides.empty()) text += "\n[set]\n";
  for (const Override& o : d.overrides) {
    text += fmt::format("{} = {}\n", toml_string(o.knob), toml_string(o.value));
  }
  for (const DraftKnob& k : draft.knobs) {
    text += fmt::format("\n[[knob]]\nname = {}\nrange = {}\npoints = {}\n", toml_string(k.name),
                        toml_string(k.range), k.points);
  }
  return text;
}

}  // namespace tcsim
