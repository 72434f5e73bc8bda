// Typed reading of the tables of one machine file: every fault becomes an InputError with file,
// line and column. Internal to core/machine.
#pragma once

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/machine/inspect.hpp"
#include "core/machine/machine.hpp"

namespace tcsim {

inline constexpr std::int64_t machine_schema = 1;
inline constexpr std::string_view unlimited = "unlimited";  // a capacity

// What the figures of a table share unless they say otherwise.
struct Provenance {
  Origin origin = Origin::assumed;
  std::string source;
  bool operator==(const Provenance&) const = default;
};

class MachineReader {
 public:
  explicit MachineReader(std::string place) : place_(std::move(place)) {}

  const std::string& place() const { return place_; }
  std::string at(const toml::source_region& source) const {
    return fmt::format("{}:{}:{}", place_, source.begin.line, source.begin.column);
  }
  std::string at(const toml::node& node) const { return at(node.source()); }

  [[noreturn]] void fail(const toml::node& node, const std::string& problem,
                         const std::string& mend) const {
    throw InputError(at(node), problem, mend);
  }

  // A contradiction that reading survives.
  void fault(const toml::node& node, const std::string& problem, const std::string& mend) const {
    findings_.push_back({Severity::error, at(node), problem, mend});
  }
  const std::vector<Finding>& findings() const { return findings_; }

  // `known` lists names.
  template <class Names>
  void known_keys(const toml::table& table, std::string_view what, const Names& known) const {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      throw InputError(at(key.source()), fmt::format("unknown key '{}' in {}", key.str(), what),
                       fmt::format("known are {}", fmt::join(known, ", ")));
    }
  }
  void known_keys(const toml::table& table, std::string_view what,
                  std::initializer_list<std::string_view> known) const {
    known_keys<std::initializer_list<std::string_view>>(table, what, known);
  }

  const toml::node& required(const toml::table& table, std::string_view key,
                             std::string_view what) const {
    if (const toml::node* node = table.get(key)) return *node;
    throw InputError(at(table), fmt::format("{} has no {}", what, key),
                     fmt::format("add \"{} = ...\"", key));
  }

  std::string text(const toml::node& node, std::string_view key) const {
    if (const auto* value = node.as_string()) return value->get();
    fail(node, fmt::format("{} is no text", key), "write it in double quotes");
  }
  std::string text_or(const toml::table& table, std::string_view key, std::string fallback) const {
    const toml::node* node = table.get(key);
    return node ? text(*node, key) : fallback;
  }

  std::int64_t count(const toml::node& node, std::string_view key,
                     std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                     std::int64_t least = 1) const {
    const auto* value = node.as_integer();
    if (value == nullptr || value->get() < least || value->get() > most) {
      fail(node, fmt::format("{} is no count", key),
           fmt::format("write a whole number from {} to {}, without quotes", least, most));
    }
    return value->get();
  }
  int small_count(const toml::node& node, std::string_view key, int least = 1) const {
    return static_cast<int>(count(node, key, std::numeric_limits<int>::max(), least));
  }

  // Greater than 0, or 0 if it may be that.
  double number(const toml::node& node, std::string_view key, bool zero_too = false) const {
    double value = 0;
    if (const auto* real = node.as_floating_point()) value = real->get();
    // A large whole number is one too: toml++ converts only those that fit without loss.
    if (const auto* whole = node.as_integer()) value = static_cast<double>(whole->get());
    if (!node.is_number() || !std::isfinite(value) || !(value > 0 || (zero_too && value == 0))) {
      fail(node,
           fmt::format("{} is no number {}", key, zero_too ? "of at least 0" : "greater than 0"),
           "write one, without quotes");
    }
    return value;
  }

  bool flag(const toml::node& node, std::string_view key) const {
    if (const auto* value = node.as_boolean()) return value->get();
    fail(node, fmt::format("{} is neither true nor false", key), "write true or false");
  }
  bool flag(const toml::table& table, std::string_view key, bool fallback) const {
    const toml::node* node = table.get(key);
    return node ? flag(*node, key) : fallback;
  }

  // One of `choices` (all_origins, ...), by its to_text().
  template <class Choices>
  auto choice(const toml::node& node, std::string_view key, const Choices& choices) const {
    const std::string given = text(node, key);
    std::string known;
    for (const auto e : choices) {
      if (given == to_text(e)) return e;
      known += (known.empty() ? "" : ", ") + std::string(to_text(e));
    }
    fail(node, fmt::format("{} '{}' is unknown", key, given), "known are " + known);
  }
  template <class Enum, class Choices>
  Enum choice_or(const toml::table& table, std::string_view key, Enum fallback,
                 const Choices& choices) const {
    const toml::node* node = table.get(key);
    return node ? choice(*node, key, choices) : fallback;
  }
  // A text that `parse` reads; its UsageError gets the place. `units` are examples for a number
  // that comes without one.
  template <class Parse>
  auto parsed(const toml::node& node, std::string_view key, Parse parse,
              std::initializer_list<std::string_view> units = {}) const {
    if (node.is_number() && units.size() > 0) {
      std::string examples;
      for (std::string_view unit : units) {
        examples +=
            fmt::format("{}\"{}{}\"", examples.empty() ? "" : " or ", number(node, key), unit);
      }
      fail(node, fmt::format("{} has no unit", key), "write " + examples);
    }
    const std::string given = text(node, key);
    try {
      return parse(given);
    } catch (const UsageError& e) {
      throw InputError(at(node), fmt::format("{}: {}", key, e.what()), "");
    }
  }

  // The elements of an array of tables, [[key]], none if it is not there.
  template <class Each>
  void each_table(const toml::table& table, std::string_view key, std::string_view header,
                  Each each) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      fail(*node, fmt::format("{} is no list", key),
           fmt::format("write [[{}]] in double brackets", header));
    }
    for (const toml::node& item : *list) {
      if (const toml::table* t = item.as_table()) {
        each(*t);
      } else {
        fail(item, fmt::format("{} is no list of tables", key),
             fmt::format("write [[{}]] on a line of its own", header));
      }
    }
  }

  // A list, none if it is not there; `read` takes a node and the key.
  template <class Read>
  auto list(const toml::table& table, std::string_view key, Read read) const {
    std::vector<decltype(read(table, key))> values;
    const toml::node* node = table.get(key);
    if (node == nullptr) return values;
    const toml::array* items = node->as_array();
    if (items == nullptr) fail(*node, fmt::format("{} is no list", key), "write it in [ ]");
    for (const toml::node& item : *items) values.push_back(read(item, key));
    return values;
  }

  Bytes bytes(const toml::node& node, std::string_view key) const {
    const auto* text = node.as_string();
    const bool bare =
        text != nullptr && text->get().find_first_not_of("0123456789") == std::string::npos;
    const Bytes size = node.is_integer()
                           ? Bytes(count(node, key))
                           : parsed(node, key, [](const std::string& t) { return parse_bytes(t); });
    if (bare || node.is_integer()) {
      findings_.push_back({Severity::warning, at(node),
                           fmt::format("{} {} has no unit and is read as bytes", key, size.value()),
                           fmt::format("write \"{}\"", to_text(size))});
    }
    return size;
  }

  JoulesPerByte energy(const toml::node& node, std::string_view key) const {
    const auto parse = [](const std::string& t) { return parse_energy(t); };
    // A bare number is picojoules per byte, in quotes or not.
    return node.is_string() ? parsed(node, key, parse)
                            : parse(fmt::format("{}", number(node, key)));
  }

  Origin origin(const toml::node& node) const { return choice(node, "origin", all_origins); }
  Provenance provenance(const toml::table& table) const {
    Provenance p;
    if (const toml::node* node = table.get("origin")) p.origin = origin(*node);
    p.source = text_or(table, "source", "");
    return p;
  }

  // A plain value, or { value, origin, source }. A figure with an origin of its own does not
  // inherit the table's source, which speaks of the table's origin.
  template <class Read>
  auto figure(const toml::node& node, std::string_view key, const Provenance& shared,
              Read read) const {
    using T = decltype(read(node, key));
    const toml::table* table = node.as_table();
    if (table == nullptr) return Figure<T>{read(node, key), shared.origin, shared.source};
    known_keys(*table, key, {"value", "origin", "source"});
    Figure<T> f{read(required(*table, "value", key), key), shared.origin, shared.source};
    if (const toml::node* own = table->get("origin")) {
      f.origin = origin(*own);
      f.source = "";
    }
    f.source = text_or(*table, "source", f.source);
    return f;
  }

 private:
  std::string place_;
  mutable std::vector<Finding> findings_;  // notes taken on the way
};

}  // namespace tcsim
