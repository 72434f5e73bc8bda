#include "core/workload/suite_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text/name.hpp"

namespace tcsim {

namespace {

std::string place_of(const std::string& file, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", file, region.begin.line, region.begin.column);
}

// Not fmt::join: g++ 12 takes fmt 9's for a buffer overflow at -O3.
std::string joined(std::initializer_list<std::string_view> words, std::string_view separator) {
  std::string text;
  for (std::string_view word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

}  // namespace

Section::Section(const toml::table& table, const std::string& file,
                 std::initializer_list<std::string_view> keys)
    : table_(table), file_(file) {
  for (const auto& [key, value] : table_) {
    if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
      throw InputError(place_of(file_, key.source()), fmt::format("unknown key '{}'", key.str()),
                       "known here are " + joined(keys, ", "));
    }
  }
}

const toml::node* Section::find(std::string_view key) const { return table_.get(key); }

std::string Section::place(std::string_view key) const {
  const toml::node* node = find(key);
  return place_of(file_, node ? node->source() : table_.source());
}

std::string Section::text(std::string_view key, std::optional<std::string> fallback) const {
  const toml::node* node = find(key);
  if (!node && fallback) return *fallback;
  if (!node) throw InputError(place(key), fmt::format("no '{}'", key), "add it");
  if (!node->is_string()) {
    throw InputError(place(key), fmt::format("'{}' is not a string", key), "put it in quotes");
  }
  return **node->as_string();
}

std::size_t Section::choice(std::string_view key,
                            std::initializer_list<std::string_view> choices) const {
  const std::string value = text(key, std::string(*choices.begin()));
  const auto found = std::find(choices.begin(), choices.end(), value);
  if (found == choices.end()) {
    throw InputError(place(key), fmt::format("'{}' is \"{}\"", key, value),
                     "use " + joined(choices, " or "));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

void check_suite_schema(const Section& top) {
  const toml::node* schema = top.find("schema");
  if (!schema || !schema->is_integer() || **schema->as_integer() != 1) {
    throw InputError(top.place("schema"), "no 'schema' that this version of tcsim reads",
                     "write schema = 1");
  }
}

std::string suite_name(const Section& top) {
  const std::string name = top.text("name");
  require_name(name, top.place("name"), "'name'");
  if (name.empty() || name.find(':') != std::string::npos) {
    throw InputError(top.place("name"), fmt::format("'name' is \"{}\"", name),
                     "give a name without ':', which sets off a workload's number");
  }
  return name;
}

}  // namespace tcsim
