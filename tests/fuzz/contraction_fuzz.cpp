// Any bytes, a label and sizes with a blank between them, parse as a contraction whose own label
// and sizes read back, or are reported as a UsageError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/workload/parse.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  const auto parse = [](std::string_view label, std::string_view sizes) {
    return parse_contraction(label, parse_sizes(sizes), Layout::row_major, ElementType::f64);
  };
  const std::size_t blank = std::min(bytes.find(' '), bytes.size());
  try {
    const Contraction c =
        parse(bytes.substr(0, blank), bytes.substr(std::min(blank + 1, bytes.size())));
    if (parse(c.label(), c.sizes()).label() != c.label()) std::abort();
  } catch (const UsageError&) {
  }
}
