// Any bytes are a file of another tool that becomes a machine, or are reported as an InputError. A
// machine that comes out survives its own file, and what it exports to the same format can be read.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "exchange/exchange.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace tcsim {

inline void fuzz_import(ImportFormat format, std::string_view bytes,
                        Exported (*exporter)(const Machine&) = nullptr) {
  std::optional<Machine> machine;
  try {
    machine = import_machine(format, bytes, "fuzz").machine;
  } catch (const InputError&) {
    return;
  }
  if (parse_machine(to_toml(*machine), "text") != *machine) std::abort();
  if (exporter == nullptr) return;
  try {
    const Machine back = import_machine(format, exporter(*machine).text, "back").machine;
    if (back.levels.size() != machine->levels.size()) std::abort();
    for (std::size_t i = 0; i < back.levels.size(); ++i) {
      const Level &x = machine->levels[i], &y = back.levels[i];
      if (x.kind == LevelKind::cache && x.capacity.value != y.capacity.value) std::abort();
    }
  } catch (const UnsupportedError&) {
    // the format cannot say all of it
  }
}

}  // namespace tcsim
