// Where the catalog of this machine's kernels is kept.
#include <fmt/format.h>

#include <algorithm>

#include "bench/kernels.hpp"
#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/units/text.hpp"
#include "microbench/host.hpp"

namespace tcsim::bench {

namespace {

// A home folder may be shared by machines whose processors have the same name, so what else a
// catalog depends on is compared too. "" if it is of this machine.
std::string fault_of(const KernelCatalog& c) {
  const std::string here = this_processor();
  if (c.processor != here) {
    return fmt::format("it is of another processor ({}; this one is {})", c.processor, here);
  }
  if (c.first_cache != first_cache()) {
    return fmt::format("it is of a first cache of {}; here it has {}", to_text(c.first_cache),
                       to_text(first_cache()));
  }
  const std::string best = to_text(best_instruction_set());
  if (std::ranges::find(c.kernels, best, &MeasuredKernel::instruction_set) == c.kernels.end()) {
    return fmt::format("it has no kernel of {}, which runs here", best);
  }
  return "";
}

}  // namespace

std::filesystem::path kernel_catalog_file() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "kernels.toml";
}

KernelCatalog load_kernel_catalog(const std::filesystem::path& file) {
  return parse_kernel_catalog(read_file(file, kernel_catalog_mend), file.string());
}

KernelCatalog host_kernel_catalog() {
  const std::filesystem::path file = kernel_catalog_file();
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) {
    throw InputError(file.string(), "the kernels of this machine have not been measured",
                     kernel_catalog_mend);
  }
  KernelCatalog catalog = load_kernel_catalog(file);
  if (const std::string fault = fault_of(catalog); !fault.empty()) {
    throw InputError(file.string(), fault, kernel_catalog_mend);
  }
  return catalog;
}

}  // namespace tcsim::bench
