// Any bytes are a range of a knob of a shipped machine, or are reported as a UsageError.
#include <cmath>
#include <cstdlib>

#include "core/error.hpp"
#include "core/explore/knob_range.hpp"
#include "core/machine/toml.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  static const tcsim::Machine machine = tcsim::find_machine("e5-2680v4");
  try {
    const tcsim::KnobRange range = tcsim::parse_knob_range(machine, bytes, 3);
    std::string why;
    double last = 0;
    for (double value : range.values) {
      if (!(value > last) || !tcsim::possible(machine, range.knob, value, why)) std::abort();
      last = value;
    }
  } catch (const tcsim::UsageError&) {
  }
}
