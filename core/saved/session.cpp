// Sessions as TOML.
#include "core/saved/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <sstream>

#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"
#include "core/text/name.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t session_schema = 1;

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Session read(const toml::table& root) const {
    known(root, "a session", {"schema", "design", "baseline", "pin", "view"});
    const toml::node* schema = root.get("schema");
    if (schema == nullptr) throw InputError(place(root), "no schema", "add \"schema = 1\"");
    if (schema->value<std::int64_t>() != session_schema) {
      throw InputError(place(*schema), "this schema is not known", "write schema = 1");
    }
    Session s;
    const toml::table* chosen = table(root, "design");
    if (chosen == nullptr) throw InputError(place(root), "no design", "add a table [design]");
    s.design = design(*chosen);
    if (const toml::table* t = table(root, "baseline")) s.pins.push_back({"A", design(*t)});
    if (const toml::node* pins = root.get("pin")) read_pins(*pins, s.pins);
    if (const toml::table* t = table(root, "view")) {
      known(*t, "[view]", {"name", "knob", "second", "range", "level", "show", "tensor", "part"});
      if (text(*t, "name", s.view.name)) {
        require_name(s.view.name, place(*t->get("name")), "the view's name");
      }
      text(*t, "knob", s.view.knob);
      text(*t, "second", s.view.second);
      text(*t, "range", s.view.range);
      text(*t, "level", s.view.level);
      text(*t, "show", s.view.show);
      text(*t, "tensor", s.view.tensor);
      if (std::string part; text(*t, "part", part)) {
        try {
          s.view.part = parse_touch_range(part, part);
        } catch (const UsageError& e) {
          throw InputError(place(*t->get("part")), e.problem(), e.mend());
        }
      }
    }
    return s;
  }

 private:
  std::string place(const toml::source_region& r) const {
    return fmt::format("{}:{}:{}", file_, r.begin.line, r.begin.column);
  }
  std::string place(const toml::node& n) const { return place(n.source()); }

  void known(const toml::table& t, std::string_view what,
             const std::vector<std::string_view>& keys) const {
    for (const auto& [key, node] : t) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      std::string list;
      for (std::string_view k : keys) list += (list.empty() ? "" : ", ") + std::string(k);
      throw InputError(place(key.source()), fmt::format("unknown key '{}' in {}", key.str(), what),
                       "known are " + list);
    }
  }
  const toml::table* table(const toml::table& root, std::string_view key) const {
    const toml::node* node = root.get(key);
    if (node != nullptr && !node->is_table()) {
      throw InputError(place(*node), fmt::format("{} is no table", key),
                       fmt::format("write [{}]", key));
    }
    return node == nullptr ? nullptr : node->as_table();
  }
  // An empty one says nothing: `value` stays what it is unless it is given.
  bool text(const toml::table& t, std::string_view key, std::string& value) const {
    const toml::node* node = t.get(key);
    if (node == nullptr) return false;
    if (!node->is_string()) {
      throw InputError(place(*node), fmt::format("{} is no text", key), "write it in quotes");
    }
    if (node->as_string()->get().empty()) return false;
    value = node->as_string()->get();
    return true;
  }

  template <class T>
  std::optional<T> word(const toml::table& t, std::string_view key,
                        std::initializer_list<T> all) const {
    std::string given, list;
    if (!text(t, key, given)) return {};
    for (T value : all) {
      if (given == to_text(value)) return value;
      list += (list.empty() ? "" : " or ") + std::string(to_text(value));
    }
    throw InputError(place(*t.get(key)), fmt::format("{} '{}' is not known", key, given),
                     "use " + list);
  }

  void read_pins(const toml::node& node, std::vector<Pin>& pins) const {
    const bool none = node.is_array() && node.as_array()->empty();
    if (!node.is_array_of_tables() && !none) {
      throw InputError(place(node), "pin is no list of tables", "write [[pin]]");
    }
    for (const toml::node& item : *node.as_array()) {
      const toml::table& t = *item.as_table();
      Pin pin;
      if (!text(t, "name", pin.name)) {
        throw InputError(place(t), "no name", "add one, such as name = \"a larger L3\"");
      }
      require_name(pin.name, place(*t.get("name")), "the pin's name");
      if (std::ranges::find(pins, pin.name, &Pin::name) != pins.end()) {
        throw InputError(place(*t.get("name")), fmt::format("two pins are named '{}'", pin.name),
                         "give each a name of its own");
      }
      pin.design = design(t, {"name"});
      pins.push_back(std::move(pin));
    }
  }

  // `more` keys are somebody else's.
  Design design(const toml::table& t, std::initializer_list<std::string_view> more = {}) const {
    std::vector<std::string_view> keys{"workload", "size",       "layout",   "type", "machine",
                                       "set",      "accounting", "schedule", "cost"};
    keys.insert(keys.end(), more);
    known(t, "a design", keys);
    Design d;
    if (!text(t, "workload", d.workload.name)) {
      throw InputError(place(t), "no workload", "add one, such as workload = \"tccg:29\"");
    }
    text(t, "size", d.workload.sizes);
    d.workload.layout = word(t, "layout", {Layout::row_major, Layout::column_major});
    d.workload.type = word(t, "type", {ElementType::f64, ElementType::f32});
    text(t, "machine", d.machine);
    d.machine = beside(d.machine);
    text(t, "schedule", d.schedule);
    if (text(t, "cost", d.cost)) d.cost = beside(d.cost);
    if (text(t, "accounting", d.accounting)) {
      try {
        accounting_named(d.accounting);
      } catch (const UsageError& e) {
        throw InputError(place(*t.get("accounting")), e.what(), "");
      }
    }
    if (const toml::node* set = t.get("set")) {
      if (!set->is_array()) {
        throw InputError(place(*set), "set is no list", "write set = [\"L3.capacity=64MiB\"]");
      }
      for (const toml::node& item : *set->as_array()) d.overrides.push_back(override_of(item));
    }
    return d;
  }

  Override override_of(const toml::node& item) const {
    const auto given = item.value<std::string>();
    const auto equals = given ? given->find('=') : std::string::npos;
    if (equals == std::string::npos || equals == 0 || equals + 1 == given->size()) {
      throw InputError(place(item), "this is no override", "write \"L3.capacity=64MiB\"");
    }
    return {given->substr(0, equals), given->substr(equals + 1)};
  }

  // A file may be named from where the session lies.
  std::string beside(const std::string& name) const {
    const std::filesystem::path path = std::filesystem::path(file_).parent_path() / name;
    std::error_code ignored;
    const bool file = name.ends_with(".toml") && std::filesystem::exists(path, ignored);
    return file ? path.string() : name;
  }

  std::string file_;
};

toml::table table_of(const Design& d) {
  toml::table t;
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) t.insert(key, value);
  };
  text("workload", d.workload.name);
  text("size", d.workload.sizes);
  if (d.workload.layout) text("layout", to_text(*d.workload.layout));
  if (d.workload.type) text("type", to_text(*d.workload.type));
  text("machine", d.machine);
  toml::array set;
  for (const Override& o : d.overrides) set.push_back(o.knob + "=" + o.value);
  if (!set.empty()) t.insert("set", std::move(set));
  text("accounting", d.accounting);
  text("schedule", d.schedule);
  text("cost", d.cost);
  return t;
}

}  // namespace

std::string free_pin_name(const std::vector<Pin>& pins) {
  for (int i = 0;; ++i) {
    constexpr int letters = 26;
    std::string name(1, static_cast<char>('A' + i % letters));
    if (i >= letters) name += std::to_string(i / letters + 1);
    if (std::ranges::find(pins, name, &Pin::name) == pins.end()) return name;
  }
}

Session parse_session(std::string_view text, const std::string& place) {
  return Reader(place).read(parse_toml(text, place));
}

Session load_session(const std::filesystem::path& file) {
  return parse_session(read_file(file, "give the path of a session"), file.string());
}

std::string to_toml(const Session& s) {
  toml::table root{{"schema", session_schema}, {"design", table_of(s.design)}};
  toml::array pins;
  for (const Pin& pin : s.pins) {
    toml::table t = table_of(pin.design);
    t.insert("name", pin.name);
    pins.push_back(std::move(t));
  }
  if (!pins.empty()) root.insert("pin", std::move(pins));
  toml::table view;
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) view.insert(key, value);
  };
  text("name", s.view.name);
  text("knob", s.view.knob);
  text("second", s.view.second);
  text("range", s.view.range);
  text("level", s.view.level);
  text("show", s.view.show);
  text("tensor", s.view.tensor);
  if (!(s.view.part == TouchRange{})) text("part", to_text(s.view.part));
  root.insert("view", std::move(view));
  std::ostringstream out;
  out << root << "\n";
  return out.str();
}

}  // namespace tcsim
