// Any bytes are a session that is written and read back as it was, or are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/saved/session.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  try {
    const tcsim::Session session = tcsim::parse_session(bytes, "fuzz");
    if (!(tcsim::parse_session(to_toml(session), "again") == session)) std::abort();
    tcsim::free_pin_name(session.pins);
  } catch (const tcsim::InputError&) {
  }
}
