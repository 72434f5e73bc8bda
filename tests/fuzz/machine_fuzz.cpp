// Any bytes are a machine file that round-trips, or are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  // Derived machines read other files; those are not what is tried here.
  if (bytes.find("derived_from") != std::string_view::npos) return;
  try {
    const Machine machine = parse_machine(bytes, "fuzz");
    if (parse_machine(to_toml(machine), "text") != machine) std::abort();
  } catch (const InputError&) {
  }
}
