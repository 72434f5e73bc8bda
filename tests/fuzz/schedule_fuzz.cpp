// Any bytes parse as a schedule that round-trips, or are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/schedule/schedule.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  try {
    const tcsim::Schedule schedule = tcsim::parse_schedule(bytes, "fuzz");
    if (tcsim::parse_schedule(tcsim::to_text(schedule), "text") != schedule) std::abort();
    if (tcsim::parse_schedule(tcsim::to_line(schedule), "line") != schedule) std::abort();
  } catch (const tcsim::InputError&) {
  }
}
