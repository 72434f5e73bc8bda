// Any bytes parse as a program whose text reads back, and which is a contraction that reads back or
// is not yet done; or they are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/workload/contraction_view.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  try {
    const Program program = parse_program(bytes, "fuzz");
    const std::string text = to_text(program);
    if (parse_program(text, "text") != program) std::abort();
    if (to_text(parse_program(text, "text")) != text) std::abort();
    const Contraction contraction = contraction_of(program);
    const Contraction again = contraction_of(program_of(contraction));
    if (again.label() != contraction.label() || again.sizes() != contraction.sizes()) std::abort();
  } catch (const InputError&) {
  } catch (const UnsupportedError&) {
  }
}
