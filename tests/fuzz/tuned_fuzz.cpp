// Any bytes are a file of tuned schedules that round-trips, or are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/saved/tuned.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  try {
    const TunedSchedules tuned = parse_tuned(bytes, "fuzz");
    if (parse_tuned(to_toml(tuned), "text") != tuned) std::abort();
  } catch (const InputError&) {
  }
}
