// Any bytes are a knob and a value for a shipped machine, or are reported as a UsageError.
#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  static const tcsim::Machine machine = tcsim::find_machine("e5-2680v4");
  try {
    tcsim::override_knob(machine, bytes);
  } catch (const tcsim::UsageError&) {
  }
}
