// What files of suites have in common: tables whose keys are known, a schema and a name.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/io/toml.hpp"

namespace tcsim {

// One TOML table whose keys are known; every error carries file, line and column. What it is made
// of must outlive it.
class Section {
 public:
  // Throws InputError for a key that is not among these.
  Section(const toml::table& table, const std::string& file,
          std::initializer_list<std::string_view> keys);

  const toml::node* find(std::string_view key) const;
  // Where a key's value stands, or the table if it has none.
  std::string place(std::string_view key) const;
  // The string at `key`; without a fallback the key is required. Throws InputError.
  std::string text(std::string_view key, std::optional<std::string> fallback = {}) const;
  // The index of the string at `key` among `choices`; the first where there is no such key. Throws
  // InputError.
  std::size_t choice(std::string_view key, std::initializer_list<std::string_view> choices) const;

 private:
  const toml::table& table_;
  const std::string& file_;
};

// Throw InputError: schema = 1, and a name without ':'.
void check_suite_schema(const Section& top);
std::string suite_name(const Section& top);

}  // namespace tcsim
