#include "core/study/draft.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

namespace tcsim {

namespace {

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

}  // namespace

std::string to_toml(const StudyDraft& draft) {
  std::string text = fmt::format("schema = 1\nname = {}\n", quoted(draft.name));
  const auto line = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{} = {}\n", key, quoted(value));
  };
  const Design& d = draft.design;
  const bool label = needs_sizes(d.workload.name);
  line("description", draft.description);
  if (!label) text += fmt::format("workloads = [{}]\n", quoted(d.workload.name));
  text += fmt::format("machines = [{}]\n", quoted(d.machine));
  line("accounting", d.accounting);
  line("compute", to_text(draft.compute));
  line("objective", to_text(draft.objective));
  if (label) {
    text += fmt::format("\n[[workload]]\nlabel = {}\n", quoted(d.workload.name));
    line("sizes", d.workload.sizes);
    if (d.workload.layout) line("layout", to_text(*d.workload.layout));
    if (d.workload.type) line("type", to_text(*d.workload.type));
  }
  if (!d.overrides.empty()) text += "\n[set]\n";
  for (const Override& o : d.overrides) {
    text += fmt::format("{} = {}\n", quoted(o.knob), quoted(o.value));
  }
  for (const DraftKnob& k : draft.knobs) {
    text += fmt::format("\n[[knob]]\nname = {}\nrange = {}\npoints = {}\n", quoted(k.name),
                        quoted(k.range), k.points);
  }
  return text;
}

}  // namespace tcsim
