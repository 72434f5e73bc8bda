// Places for the parts of a machine, so that a finding names the line of the key that is wrong and
// not only the file. Internal to core/machine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/machine/inspect.hpp"
#include "core/machine/machine.hpp"

namespace tcsim {

// A table of the file and the keys in it.
struct TablePlace {
  std::string table;
  std::map<std::string, std::string> keys = {};

  // Of the first key that the file has, otherwise of the table.
  std::string of(std::initializer_list<std::string_view> wanted) const {
    for (std::string_view key : wanted) {
      if (const auto found = keys.find(std::string(key)); found != keys.end()) return found->second;
    }
    return table;
  }
};

struct MachinePlaces {
  std::string machine;
  TablePlace core;
  std::vector<TablePlace> levels;                // one for each level
  std::vector<std::vector<std::string>> series;  // of each level, one for each series
  std::vector<std::string> peaks, tlbs;
  std::string name;  // of the machine
};

// Everything at one place.
MachinePlaces same_place(const Machine& machine, const std::string& place);

std::vector<Finding> inspect_at(const Machine& machine, const MachinePlaces& places);

// Throws the first error as an InputError.
void throw_first_error(const std::vector<Finding>& findings);

}  // namespace tcsim
