#include "core/machine/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"
#include "core/machine/fields.hpp"
#include "core/machine/override.hpp"
#include "core/machine/places.hpp"
#include "core/machine/toml_reader.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

// The value of one field, by its type.
template <class T>
T read_value(const MachineReader& r, const toml::node& node, const Declared& field) {
  const std::string_view key = field.name;
  if constexpr (std::is_same_v<T, bool>) {
    return r.flag(node, key);
  } else if constexpr (std::is_same_v<T, int>) {
    return r.small_count(node, key, field.range && field.range->holds(0) ? 0 : 1);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return r.count(node, key);
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Cycles>) {
    return T(r.number(node, key, field.range && field.range->holds(0)));
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return r.bytes(node, key);
  } else if constexpr (std::is_same_v<T, Hertz>) {
    return r.parsed(node, key, [](const std::string& t) { return parse_frequency(t); }, {"GHz"});
  } else if constexpr (std::is_same_v<T, Bandwidth>) {
    return r.parsed(node, key, [](const std::string& t) { return parse_bandwidth(t); },
                    {"GB/s", "B/cycle"});
  } else if constexpr (std::is_same_v<T, JoulesPerByte>) {
    return r.energy(node, key);
  } else if constexpr (std::is_same_v<T, SetIndex>) {
    return r.parsed(node, key, [](const std::string& t) { return parse_set_index(t); });
  } else {
    return r.choice(node, key, all_values<T>());
  }
}

// Every field of `owner` but its geometry. `what` names the table where a required one is missing.
template <class Owner>
void read_fields(const MachineReader& r, const toml::table& table, std::string_view what,
                 Owner& owner) {
  const Provenance shared = r.provenance(table);
  for_each_field<Owner>([&](const auto& field) {
    using Member = Held<typename std::decay_t<decltype(field)>::Type>;
    if (field.part == Part::geometry) return;
    const toml::node* node =
        field.required ? &r.required(table, field.name, what) : table.get(field.name);
    if (node == nullptr) return;
    const auto read = [&](const toml::node& n, std::string_view) {
      return read_value<typename Member::Value>(r, n, field);
    };
    if constexpr (Member::is_figure) {
      owner.*field.member = r.figure(*node, field.name, shared, read);
    } else {
      owner.*field.member = read(*node, field.name);
    }
  });
}

using Keys = std::vector<std::string_view>;

// `first`, the fields of Owner, `last`.
template <class Owner>
Keys keys_of(Keys first, std::initializer_list<std::string_view> last) {
  for_each_field<Owner>([&](const Declared& field) {
    first.push_back(field.name);
    if (std::is_same_v<Owner, Level> && field.name == "capacity") first.emplace_back("sets");
  });
  first.insert(first.end(), last);
  return first;
}

// What bandwidth and peak series share. `rates` is the key of the repetitions, which has their
// unit.
template <class Series>
void read_series(const MachineReader& r, const toml::table& table, std::string_view rates,
                 std::string_view what, Series& s) {
  using Rate = typename decltype(s.repetitions)::value_type;
  s.element = r.bytes(r.required(table, "element", what), "element");
  s.instruction_set = r.text(r.required(table, "instruction_set", what), "instruction_set");
  s.cores = r.small_count(r.required(table, "cores", what), "cores");
  r.required(table, rates, what);
  s.repetitions = r.list(
      table, rates, [&](const toml::node& n, std::string_view k) { return Rate(r.number(n, k)); });
}

PeakSeries read_peak(const MachineReader& r, const toml::table& table) {
  constexpr std::string_view what = "[[core.peak]]";
  r.known_keys(table, what, {"element", "instruction_set", "cores", "flops_per_second"});
  PeakSeries s;
  read_series(r, table, "flops_per_second", what, s);
  return s;
}

BandwidthSeries read_bandwidth_series(const MachineReader& r, const toml::table& table) {
  constexpr std::string_view what = "[[level.series]]";
  r.known_keys(table, what,
               {"mix", "element", "instruction_set", "cores", "working_set", "frequency",
                "unstable", "bytes_per_second"});
  BandwidthSeries s;
  read_series(r, table, "bytes_per_second", what, s);
  s.mix = r.choice(r.required(table, "mix", what), "mix", all_access_mixes);
  s.working_set = r.bytes(r.required(table, "working_set", what), "working_set");
  if (const toml::node* node = table.get("frequency")) {
    s.frequency = r.parsed(*node, "frequency",
                           [](const std::string& t) { return parse_frequency(t); }, {"GHz"});
  }
  s.unstable = r.flag(table, "unstable", false);
  return s;
}

const toml::table& as_table(const MachineReader& r, const toml::node& node,
                            const std::string& key) {
  if (const toml::table* table = node.as_table()) return *table;
  r.fail(node, key + " is no table", fmt::format("write [{}] on a line of its own", key));
}

Core read_core(const MachineReader& r, const toml::table& table) {
  static const Keys keys = keys_of<Core>({"origin", "source"}, {"overhead", "peak"});
  r.known_keys(table, "[core]", keys);
  Core core;
  read_fields(r, table, "[core]", core);
  if (const toml::node* node = table.get("overhead")) {
    static const Keys known = keys_of<Overhead>({"origin", "source"}, {});
    const toml::table& overhead = as_table(r, *node, "core.overhead");
    r.known_keys(overhead, "[core.overhead]", known);
    read_fields(r, overhead, "[core.overhead]", core.overhead);
  }
  r.each_table(table, "peak", "core.peak",
               [&](const toml::table& t) { core.peaks.push_back(read_peak(r, t)); });
  return core;
}

// Fills capacity, ways and line of a cache from the line and any two of capacity, sets and ways.
void read_geometry(const MachineReader& r, const toml::table& table, const Provenance& shared,
                   Level& l) {
  const auto bytes = [&](const toml::node& n, std::string_view k) { return r.bytes(n, k); };
  const auto count = [&](const toml::node& n, std::string_view k) { return r.count(n, k); };
  const toml::node* capacity = table.get("capacity");
  const toml::node* sets = table.get("sets");
  const toml::node* ways = table.get("ways");
  l.line = r.figure(r.required(table, "line", "a cache"), "line", shared, bytes);
  if ((capacity != nullptr) + (sets != nullptr) + (ways != nullptr) < 2) {
    r.fail(table, fmt::format("{}: the cache's size is not known", l.name),
           "give two of capacity, sets and ways");
  }
  Figure<std::int64_t> set_count;
  if (sets) set_count = r.figure(*sets, "sets", shared, count);
  if (ways) l.ways = r.figure(*ways, "ways", shared, count);
  if (capacity) l.capacity = r.figure(*capacity, "capacity", shared, bytes);
  if (!sets) return;  // check() looks whether the sets are whole

  const auto product = [&](std::int64_t other) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(set_count.value, other, &result) ||
        __builtin_mul_overflow(result, l.line.value.value(), &result)) {
      r.fail(*sets, fmt::format("{}: sets x ways x line is out of range", l.name),
             "check the three numbers");
    }
    return Bytes(result);
  };
  if (!capacity) {
    l.capacity = {product(l.ways.value), set_count.origin, set_count.source};
  } else if (!ways) {
    const Bytes way = product(1);
    if (l.capacity.value.value() % way.value() != 0) {
      r.fail(*sets,
             fmt::format("{}: capacity {} is not a whole number of ways of {} sets of {} lines",
                         l.name, to_text(l.capacity.value), set_count.value, to_text(l.line.value)),
             "give two numbers of the three that agree");
    }
    l.ways = {l.capacity.value / way, set_count.origin, set_count.source};
  } else if (product(l.ways.value) != l.capacity.value) {
    r.fault(*sets,
            fmt::format("{}: capacity {}, {} sets and {} ways contradict one another ({} sets x {} "
                        "ways x {} is {})",
                        l.name, to_text(l.capacity.value), set_count.value, l.ways.value,
                        set_count.value, l.ways.value, to_text(l.line.value),
                        to_text(product(l.ways.value))),
            "give two of the three");
  }
}

Level read_level(const MachineReader& r, const toml::table& table) {
  static const Keys keys = keys_of<Level>({"name", "kind", "origin", "source"}, {"series"});
  r.known_keys(table, "[[level]]", keys);
  const Provenance shared = r.provenance(table);
  Level l;
  l.name = r.text(r.required(table, "name", "[[level]]"), "name");
  l.kind = r.choice_or(table, "kind", l.kind, all_level_kinds);
  if (l.kind == LevelKind::cache) {
    read_geometry(r, table, shared, l);
  } else {
    for (const char* key : {"sets", "ways", "line"}) {
      if (const toml::node* node = table.get(key)) {
        r.fail(*node, fmt::format("{} is a {} and has {}", l.name, to_text(l.kind), key),
               "only caches have sets, ways and a line; take it out");
      }
    }
    if (const toml::node* node = table.get("capacity")) {
      l.capacity =
          r.figure(*node, "capacity", shared, [&](const toml::node& n, std::string_view k) {
            const auto* text = n.as_string();
            if (text != nullptr && text->get() == unlimited) return Bytes(0);
            return r.bytes(n, k);
          });
    }
  }
  read_fields(r, table, l.name, l);
  r.each_table(table, "series", "level.series",
               [&](const toml::table& t) { l.series.push_back(read_bandwidth_series(r, t)); });
  return l;
}

Accounting read_accounting(const MachineReader& r, const toml::table& table) {
  static const Keys keys = keys_of<Accounting>({"name"}, {});
  r.known_keys(table, "[accounting]", keys);
  Accounting a;
  a.name = r.text_or(table, "name", a.name);
  read_fields(r, table, "[accounting]", a);
  return a;
}

Tlb read_tlb(const MachineReader& r, const toml::table& table) {
  static const Keys keys = keys_of<Tlb>({"name"}, {});
  r.known_keys(table, "[[tlb]]", keys);
  Tlb t;
  t.name = r.text(r.required(table, "name", "[[tlb]]"), "name");
  read_fields(r, table, "[[tlb]]", t);
  return t;
}

Method read_method(const MachineReader& r, const toml::table& table) {
  r.known_keys(table, "[method]", {"affinity", "clock", "pages", "warm_up", "repetitions"});
  Method m{r.text_or(table, "affinity", ""), r.text_or(table, "clock", ""),
           r.text_or(table, "pages", ""), r.text_or(table, "warm_up", ""), 0};
  if (const toml::node* node = table.get("repetitions")) {
    m.repetitions = r.small_count(*node, "repetitions");
  }
  return m;
}

std::vector<std::string> read_remarks(const MachineReader& r, const toml::table& root) {
  return r.list(root, "remarks",
                [&](const toml::node& n, std::string_view k) { return r.text(n, k); });
}

using Chain = std::vector<fs::path>;  // the files that are being read, the first one first

// A machine as far as it could be read, with the places of its parts and what is wrong with them.
struct Read {
  Machine machine;
  MachinePlaces places;
  std::vector<Finding> findings;
};

Machine load(const fs::path& file, const Chain& chain);

// Keys of a table within it are "TABLE.KEY".
void add_places(const MachineReader& r, const toml::table& table, const std::string& prefix,
                TablePlace& place) {
  for (const auto& [key, value] : table) {
    const std::string name = prefix + std::string(key.str());
    place.keys[name] = r.at(value);
    if (const toml::table* inner = value.as_table()) add_places(r, *inner, name + ".", place);
  }
}

TablePlace places_in(const MachineReader& r, const toml::node& node) {
  TablePlace place{r.at(node)};
  if (const toml::table* table = node.as_table()) add_places(r, *table, "", place);
  return place;
}

// The file that derived_from names: one beside the deriving file, or a shipped machine.
fs::path base_file(const MachineReader& r, const toml::node& node, const std::string& base) {
  std::error_code ignored;
  const fs::path beside = fs::path(r.place()).parent_path() / base;
  if (fs::is_regular_file(beside, ignored)) return beside;
  const std::vector<std::string> shipped = shipped_machines();
  if (std::find(shipped.begin(), shipped.end(), base) != shipped.end()) {
    return data_dir() / "machines" / (base + ".toml");
  }
  r.fail(node, fmt::format("derived_from '{}' is neither a file nor a shipped machine", base),
         fmt::format("give a path beside this file or one of {}", fmt::join(shipped, ", ")));
}

struct Knob {
  std::string name;
  const toml::node* value;
};

// Knobs of [set]; an unquoted L3.capacity is a table L3 in TOML's eyes.
void collect_knobs(const toml::table& table, const std::string& prefix, std::vector<Knob>& knobs) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      collect_knobs(*inner, name + ".", knobs);
    } else {
      knobs.push_back({name, &node});
    }
  }
}

std::string knob_value(const MachineReader& r, const Knob& knob) {
  if (const auto* text = knob.value->as_string()) return text->get();
  if (const auto* whole = knob.value->as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = knob.value->as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* flag = knob.value->as_boolean()) return flag->get() ? "true" : "false";
  r.fail(*knob.value, knob.name + " is neither text nor number nor true or false",
         "write it as in \"64MiB\" or 2");
}

Read read_derived(const MachineReader& r, const toml::table& root, const Chain& chain) {
  r.known_keys(root, "a derived machine",
               {"schema", "name", "description", "derived_from", "set", "accounting", "remarks"});
  const toml::node& node = *root.get("derived_from");
  const fs::path file = base_file(r, node, r.text(node, "derived_from"));
  const fs::path canonical = fs::weakly_canonical(file);
  if (std::find(chain.begin(), chain.end(), canonical) != chain.end()) {
    r.fail(node, fmt::format("derived_from '{}' leads back to that file", file.string()),
           "derive from a machine that does not derive from this one");
  }
  Machine machine = load(file, chain);
  machine.name = r.text(r.required(root, "name", "the machine"), "name");
  machine.description = r.text_or(root, "description", machine.description);
  if (const toml::node* a = root.get("accounting")) {
    machine.accounting = read_accounting(r, as_table(r, *a, "accounting"));
  }
  if (root.contains("remarks")) machine.remarks = read_remarks(r, root);
  std::string place = r.at(node);
  std::vector<Knob> knobs;
  if (const toml::node* set = root.get("set")) {
    place = r.at(*set);
    collect_knobs(as_table(r, *set, "set"), "", knobs);
    std::sort(knobs.begin(), knobs.end(), [](const Knob& a, const Knob& b) {
      const auto& x = a.value->source().begin;
      const auto& y = b.value->source().begin;
      return std::pair(x.line, x.column) < std::pair(y.line, y.column);
    });
    for (const Knob& knob : knobs) {
      try {
        machine = override_knob(machine, knob.name + "=" + knob_value(r, knob)).machine;
      } catch (const UsageError& e) {
        throw InputError(r.at(*knob.value), e.what(), "");
      }
    }
  }
  MachinePlaces places = same_place(machine, place);
  places.name = r.at(*root.get("name"));
  for (const Knob& knob : knobs) {
    const auto dot = knob.name.find('.');
    const std::string owner = knob.name.substr(0, dot), field = knob.name.substr(dot + 1);
    if (owner == "core") places.core.keys[field] = r.at(*knob.value);
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
      if (machine.levels[i].name == owner) places.levels[i].keys[field] = r.at(*knob.value);
    }
  }
  return {std::move(machine), std::move(places), {}};
}

Read read_whole(const MachineReader& r, const toml::table& root) {
  r.known_keys(root, "a machine file",
               {"schema", "name", "description", "derived_from", "core", "level", "accounting",
                "tlb", "method", "remarks"});
  Machine machine;
  machine.name = r.text(r.required(root, "name", "the machine"), "name");
  machine.description = r.text_or(root, "description", "");
  const toml::node& core = r.required(root, "core", "the machine");
  machine.core = read_core(r, as_table(r, core, "core"));
  if (const toml::node* a = root.get("accounting")) {
    machine.accounting = read_accounting(r, as_table(r, *a, "accounting"));
  }
  r.each_table(root, "tlb", "tlb",
               [&](const toml::table& t) { machine.tlbs.push_back(read_tlb(r, t)); });
  if (const toml::node* m = root.get("method")) {
    machine.method = read_method(r, as_table(r, *m, "method"));
  }
  machine.remarks = read_remarks(r, root);
  MachinePlaces places{r.at(r.required(root, "level", "the machine")),
                       places_in(r, core),
                       {},
                       {},
                       {},
                       {},
                       r.at(*root.get("name"))};
  r.each_table(*core.as_table(), "peak", "core.peak",
               [&](const toml::table& t) { places.peaks.push_back(r.at(t)); });
  r.each_table(root, "tlb", "tlb", [&](const toml::table& t) { places.tlbs.push_back(r.at(t)); });
  r.each_table(root, "level", "level", [&](const toml::table& t) {
    machine.levels.push_back(read_level(r, t));
    places.levels.push_back(places_in(r, t));
    places.series.emplace_back();
    r.each_table(t, "series", "level.series",
                 [&](const toml::table& s) { places.series.back().push_back(r.at(s)); });
  });
  return {std::move(machine), std::move(places), {}};
}

// Throws InputError for a fault in the file's form.
Read read(std::string_view text, const std::string& place, const Chain& chain) {
  const MachineReader r(place);
  const toml::table root = parse_toml(text, place);
  const toml::node* version = root.get("schema");
  if (version == nullptr) {
    throw InputError(place + ":1:1", "no schema",
                     fmt::format("begin with \"schema = {}\"", machine_schema));
  }
  if (version->value_exact<std::int64_t>() != machine_schema) {
    r.fail(*version, "unknown schema", fmt::format("this tcsim reads schema = {}", machine_schema));
  }
  Read result = root.contains("derived_from") ? read_derived(r, root, chain) : read_whole(r, root);
  result.findings = r.findings();
  for (Finding& f : inspect_at(result.machine, result.places)) {
    result.findings.push_back(std::move(f));
  }
  return result;
}

std::string text_of(const fs::path& file) {
  return read_file(file, "give the path of a machine file");
}

Machine parse(std::string_view text, const std::string& place, const Chain& chain) {
  Read result = read(text, place, chain);
  throw_first_error(result.findings);
  return std::move(result.machine);
}

Machine load(const fs::path& file, const Chain& chain) {
  Chain longer = chain;
  longer.push_back(fs::weakly_canonical(file));
  return parse(text_of(file), file.string(), longer);
}

}  // namespace

Machine load_machine(const fs::path& file) { return load(file, {}); }

Machine find_machine(const std::string& name_or_file) {
  return load_machine(find_machine_file(name_or_file));
}

Machine parse_machine(std::string_view toml, const std::string& place) {
  return parse(toml, place, {fs::weakly_canonical(place)});
}

InspectedFile inspect_machine_file(const fs::path& file) {
  const std::string text = text_of(file);
  try {
    Read result = read(text, file.string(), {fs::weakly_canonical(file)});
    return {std::move(result.machine), std::move(result.findings)};
  } catch (const InputError& e) {
    return {{}, {{Severity::error, e.place(), e.problem(), e.mend()}}};
  }
}

}  // namespace tcsim
