// Any bytes are a catalog of kernels that round-trips, or are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/machine/kernel_catalog.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  try {
    const KernelCatalog catalog = parse_kernel_catalog(bytes, "fuzz");
    if (parse_kernel_catalog(to_toml(catalog), "text") != catalog) std::abort();
    for (KernelScheme scheme : all_kernel_schemes) {
      for (Bytes element : {Bytes(4), Bytes(8)}) catalog.candidates(element, scheme);
    }
  } catch (const InputError&) {
  }
}
