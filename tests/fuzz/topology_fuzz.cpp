// Any bytes are a list of processors, ascending within its ranges, or none; and a text in which a
// processor's name is looked for.
#include <algorithm>
#include <cstdlib>

#include "microbench/geometry.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  const std::vector<int> cpus = parse_cpu_list(bytes);
  if (cpus.size() > (1u << 17)) std::abort();
  if (std::any_of(cpus.begin(), cpus.end(), [](int cpu) { return cpu < 0; })) std::abort();
  if (processor_name(bytes).empty()) std::abort();
}
