// Any bytes parse as an affine program whose text reads back, and whose lower bound at some sizes
// is at least the compulsory traffic; or they are reported as an InputError.
#include <cstdlib>

#include "core/bounds/lower.hpp"
#include "core/bounds/problem_text.hpp"
#include "core/error.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  using namespace tcsim::bounds;
  try {
    const Problem problem = parse_problem(bytes, "fuzz");
    if (parse_problem(to_text(problem), "text") != problem) std::abort();
    // Larger ones are right as well, but a fuzzer should not wait for them.
    if (problem.dims.size() > 5 || problem.statements.size() > 2) return;
    for (const Problem::Statement& s : problem.statements) {
      if (s.in.size() > 3) return;
    }
    Values sizes;
    for (const Problem::Dim& d : problem.dims) sizes[d.symbol] = d.extent.value_or(7);
    const LowerNumber number = lower_bound_at(problem, Moves::loads_and_stores, 5, sizes);
    if (!(number.elements >= number.compulsory && number.compulsory >= 0)) std::abort();
  } catch (const InputError&) {
  }
}
