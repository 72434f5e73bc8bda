// Any bytes parse as a schedule that round-trips, or are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/parse.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  static const tcsim::Contraction contraction = tcsim::parse_contraction(
      "abcd-aebf-fdce", tcsim::parse_sizes("a=24,b=24,c=24,d=24,e=24,f=24"),
      tcsim::Layout::row_major, tcsim::ElementType::f64);
  try {
    const tcsim::Schedule schedule = tcsim::parse_schedule(bytes, contraction, "fuzz");
    const auto read = [&](const std::string& text) {
      return tcsim::parse_schedule(text, contraction, "again");
    };
    if (read(tcsim::to_text(schedule, contraction)) != schedule) std::abort();
    if (read(tcsim::to_line(schedule, contraction)) != schedule) std::abort();
    // Whatever passes check() can be followed: paths are found, or what is missing is said.
    if (!tcsim::is_legal(schedule, contraction)) return;
    if (tcsim::paths_of(contraction, schedule).empty()) std::abort();
    try {
      tcsim::only_path(contraction, schedule);
    } catch (const tcsim::UnsupportedError&) {
    }
  } catch (const tcsim::InputError&) {
  }
}
