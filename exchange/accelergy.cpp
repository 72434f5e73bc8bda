#include <fmt/format.h>

#include <yaml-cpp/yaml.h>
#include <algorithm>
#include <cctype>
#include <map>

#include "core/error.hpp"
#include "core/study/cost.hpp"
#include "core/text/number.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"
#include "exchange/costs.hpp"

namespace tcsim {

namespace {

constexpr std::size_t largest = 16 << 20;  // bytes
constexpr std::size_t most_components = 4096;
constexpr double pj_per_joule = 1e12, um2_per_mm2 = 1e6;

struct Component {
  double count = 1;                      // of its instances
  std::map<std::string, double> energy;  // pJ, by action
  std::optional<double> cycle;           // seconds that one leak is for
  std::optional<double> area;            // um2 of one
};

// "system_top_level.shared_glb[1..4]" without its instances, of which there are 4.
std::pair<std::string, double> split_instances(const std::string& text) {
  const auto open = text.rfind('[');
  if (open == text.npos || !text.ends_with(']')) return {text, 1};
  const std::string range = text.substr(open + 1, text.size() - open - 2);
  const auto dots = range.find("..");
  if (dots == range.npos) return {text, 1};
  const auto first = whole_number(range.substr(0, dots)),
             last = whole_number(range.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= std::int64_t{1} << 40)
    return {text, 1};
  return {text.substr(0, open), static_cast<double>(*last - *first + 1)};
}

std::string last_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

class TablesReader {
 public:
  explicit TablesReader(const CostTables& file) : place_(file.place) {
    if (file.text.size() > largest) {
      throw InputError(place_, "larger than 16 MiB", "give a table of Accelergy");
    }
    try {
      root_ = YAML::Load(file.text);
    } catch (const YAML::Exception& e) {
      throw InputError(at(e.mark), e.msg, "mend the YAML there");
    }
    if (!root_.IsMap()) fail(root_, "no mapping", "give a table of Accelergy: ERT or ART");
  }

  void read(std::map<std::string, Component>& into) {
    const YAML::Node energies = child(root_, "ERT"), areas = child(root_, "ART");
    if (!energies.IsMap() && !areas.IsMap()) {
      fail(root_, "neither ERT nor ART", "give timeloop-mapper.ERT.yaml or .ART.yaml");
    }
    if (energies.IsMap()) {
      each(energies, into, [&](const YAML::Node& node, Component& c) { read_actions(node, c); });
    }
    if (areas.IsMap()) {
      each(areas, into, [&](const YAML::Node& node, Component& c) {
        c.area = number(child(node, "area"), node, "area");
      });
    }
  }

 private:
  std::string at(const YAML::Mark& mark) const {
    return fmt::format("{}:{}", place_, std::max(mark.line, 0) + 1);
  }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& problem,
                         const std::string& mend) const {
    throw InputError(at(node.Mark()), problem, mend);
  }

  // A null node where there is none.
  static YAML::Node child(const YAML::Node& node, const std::string& key) {
    if (!node.IsMap()) return YAML::Node();
    const YAML::Node found = node[key];
    return found.IsDefined() ? found : YAML::Node();
  }

  // `around` has the line where the node is not there.
  double number(const YAML::Node& node, const YAML::Node& around, const std::string& what) const {
    const auto value = node.IsScalar() ? real_number(node.Scalar()) : std::nullopt;
    if (!value || !(*value >= 0) || *value > 1e30) {
      fail(node.IsScalar() ? node : around, what + " is no number of at least 0", "write one");
    }
    return *value;
  }

  template <class Read>
  void each(const YAML::Node& section, std::map<std::string, Component>& into, Read&& read) {
    const YAML::Node tables = child(section, "tables");
    if (!tables.IsSequence())
      fail(section, "no list \"tables\"", "give a table of version 0.3 or later");
    for (const YAML::Node& node : tables) {
      const YAML::Node name = child(node, "name");
      if (!name.IsScalar() || name.Scalar().empty())
        fail(node, "a table without a name", "add one");
      const auto [of, count] = split_instances(name.Scalar());
      if (into.size() >= most_components && !into.contains(of)) {
        fail(node, "too many components", fmt::format("give at most {}", most_components));
      }
      Component& c = into[of];
      c.count = std::max(c.count, count);
      read(node, c);
    }
  }

  // Of an action with several arguments the dearest counts: version 0.3 has one for each number of
  // bits that change.
  void read_actions(const YAML::Node& node, Component& c) const {
    const YAML::Node actions = child(node, "actions");
    if (!actions.IsSequence()) fail(node, "no list \"actions\"", "add one");
    for (const YAML::Node& action : actions) {
      const YAML::Node name = child(action, "name");
      if (!name.IsScalar()) fail(action, "an action without a name", "add one");
      const double energy = number(child(action, "energy"), action, "energy");
      const auto [found, added] = c.energy.try_emplace(name.Scalar(), energy);
      found->second = std::max(found->second, energy);
      const YAML::Node cycle = child(child(action, "arguments"), "global_cycle_seconds");
      if (name.Scalar() != "leak" || !cycle.IsScalar()) continue;
      c.cycle = number(cycle, action, "global_cycle_seconds");
      if (!(*c.cycle > 0)) fail(cycle, "a cycle of no time", "write seconds");
    }
  }

  std::string place_;
  YAML::Node root_;
};

using Components = std::map<std::string, Component>;

// Whether the table's name is meant by what somebody wrote.
bool is_named(const std::string& component, const std::string& name) {
  return component == name || last_name(component) == name;
}

const Components::value_type& find(const Components& all, const CostComponent& wanted) {
  const Components::value_type* found = nullptr;
  for (const auto& one : all) {
    if (!is_named(one.first, wanted.name)) continue;
    if (found != nullptr) {
      throw UsageError("--component",
                       fmt::format("'{}' is {} and {}", wanted.name, shortened(found->first),
                                   shortened(one.first)),
                       "give the whole name");
    }
    found = &one;
  }
  if (found == nullptr) {
    std::string names;
    for (const auto& [name, component] : all)
      names += (names.empty() ? "" : ", ") + last_name(name);
    throw UsageError("--component",
                     fmt::format("there is no '{}' in the tables", shortened(wanted.name)),
                     "there are " + shortened(names));
  }
  return *found;
}

bool same_word(const std::string& a, const std::string& b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Null if none is called as the part is.
const Components::value_type* match(const Components& all, const std::string& part,
                                    bool is_memory) {
  std::vector<std::string> words{part};
  if (part == "core") words = {"mac", "fma"};
  if (is_memory) words.emplace_back("DRAM");
  for (const std::string& word : words) {
    for (const auto& one : all) {
      if (same_word(last_name(one.first), word)) return &one;
    }
  }
  return nullptr;
}

class Writer {
 public:
  Writer(const Machine& machine, ImportedCosts& into) : machine_(machine), into_(into) {}

  void core(const std::string& name, const Component& c) {
    line("\n[core]");
    for (const char* action : {"compute", "mac_random", "mac"}) {
      const auto energy = c.energy.find(action);
      if (energy == c.energy.end()) continue;
      rule("fma", energy->second, fmt::format("{}: {} {:g} pJ", name, action, energy->second));
      break;
    }
    area_and_power(name, c);
  }

  void level(const Level& level, const std::string& name, const Component& c, Bytes word) {
    line("\n[[level]]\nname = {}", toml_string(level.name));
    const auto read = c.energy.find("read"), write = c.energy.find("write");
    if (read != c.energy.end() || write != c.energy.end()) {
      double sum = 0;
      std::string source = name + ":";
      int count = 0;
      for (const auto& [found, what] : {std::pair{read, "read"}, {write, "write"}}) {
        if (found == c.energy.end()) continue;
        sum += found->second;
        source += fmt::format("{} {} {:g} pJ", count++ == 0 ? "" : ",", what, found->second);
      }
      rule("energy", sum / count / static_cast<double>(word.value()),
           source + " for " + to_text(word));
    }
    area_and_power(name, c);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> form, Args&&... args) {
    into_.toml += fmt::format(form, std::forward<Args>(args)...) + "\n";
  }
  void rule(const char* key, double value, const std::string& source) {
    line("{} = {{ formula = \"{}\", source = {} }}", key, value, toml_string(source));
  }
  void area_and_power(const std::string& name, const Component& c) {
    const std::string times = c.count == 1 ? "" : fmt::format("{:g} times ", c.count);
    if (c.area) {
      rule("area", c.count * *c.area / um2_per_mm2,
           fmt::format("{}: {}{:g} um2", name, times, *c.area));
    }
    const auto leak = c.energy.find("leak");
    if (leak == c.energy.end()) return;
    const double cycle = c.cycle.value_or(1 / machine_.core.frequency.value.value());
    rule("power", c.count * leak->second / pj_per_joule / cycle,
         fmt::format("{}: {}a leak of {:g} pJ in {:g} s", name, times, leak->second, cycle));
  }

  const Machine& machine_;
  ImportedCosts& into_;
};

}  // namespace

CostComponent parse_cost_component(const std::string& text, const std::string& place) {
  const auto equals = text.find('=');
  const std::string mend = "write it as in L3=shared_glb:8B";
  if (equals == text.npos || equals == 0) {
    throw UsageError(place, fmt::format("'{}' names no part", text), mend);
  }
  CostComponent c{text.substr(0, equals), text.substr(equals + 1), {}};
  if (const auto colon = c.name.find(':'); colon != c.name.npos) {
    c.word = parse_bytes(c.name.substr(colon + 1));
    c.name.erase(colon);
    if (*c.word < Bytes(1) || *c.word > Bytes(1 << 20)) {
      throw UsageError(place, fmt::format("'{}' moves {} at a time", c.name, to_text(*c.word)),
                       mend);
    }
  }
  if (c.name.empty()) throw UsageError(place, fmt::format("'{}' names no component", text), mend);
  return c;
}

bool is_accelergy(std::string_view text) {
  for (const char* key : {"ERT:", "ART:"}) {
    const auto found = text.substr(0, 4096).find(key);
    if (found != text.npos && (found == 0 || text[found - 1] == '\n')) return true;
  }
  return false;
}

ImportedCosts import_accelergy(const std::vector<CostTables>& tables, const Machine& machine,
                               const std::vector<CostComponent>& components,
                               const std::string& name) {
  Components all;
  std::string files;
  for (const CostTables& file : tables) {
    TablesReader(file).read(all);
    const auto slash = file.place.rfind('/');
    files +=
        (files.empty() ? "" : ", ") + file.place.substr(slash == file.place.npos ? 0 : slash + 1);
  }
  std::map<std::string, const CostComponent*> wanted;
  for (const CostComponent& c : components) {
    const bool known = c.part == "core" || std::ranges::any_of(machine.levels, [&](const Level& l) {
                         return l.name == c.part;
                       });
    if (!known) {
      throw UsageError("--component",
                       fmt::format("machine {} has no level '{}'", machine.name, c.part),
                       "name a level of the machine, or core");
    }
    wanted[c.part] = &c;
  }
  ImportedCosts result;
  result.toml = fmt::format("schema = 1\nname = {}\nsource = {}\n", toml_string(name),
                            toml_string("Accelergy's tables " + files));
  Writer writer(machine, result);
  Bytes line(64);  // of the last cache, which memory moves
  for (const Level& level : machine.levels) {
    if (level.kind == LevelKind::cache) line = level.line.value;
  }
  std::vector<std::string> used;
  const auto component = [&](const std::string& part, bool is_memory) {
    const auto asked = wanted.find(part);
    const Components::value_type* found =
        asked != wanted.end() ? &find(all, *asked->second) : match(all, part, is_memory);
    if (found != nullptr) {
      used.push_back(found->first);
      result.notes.push_back(fmt::format("{} costs what {} does", part, found->first));
    } else {
      result.notes.push_back(part + " has no component, and no cost");
    }
    return found;
  };
  if (const auto* found = component("core", false)) writer.core(found->first, found->second);
  for (const Level& level : machine.levels) {
    const auto* found = component(level.name, level.kind == LevelKind::memory);
    if (found == nullptr) continue;
    const auto asked = wanted.find(level.name);
    const Bytes whole = level.kind == LevelKind::cache ? level.line.value : line;
    const Bytes word = asked != wanted.end() ? asked->second->word.value_or(whole) : whole;
    writer.level(level, found->first, found->second, word);
  }
  if (used.empty()) {
    throw UsageError(tables.empty() ? "tables" : tables.front().place,
                     fmt::format("no component is called as a level of {}", machine.name),
                     "say which, as in --component L3=shared_glb:8B");
  }
  for (const auto& [of, c] : all) {
    if (std::ranges::find(used, of) == used.end()) result.ignored.push_back(of);
  }
  parse_cost_model(result.toml, "the cost model");
  return result;
}

}  // namespace tcsim
