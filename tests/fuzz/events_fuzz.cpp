// Any bytes are a file of events, or are reported as an InputError.
#include "core/error.hpp"
#include "microbench/counters/events.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  try {
    tcsim::parse_events(bytes, "fuzz");
  } catch (const tcsim::InputError&) {
  }
}
