// The three printers of a catalog of kernels.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "cli/request.hpp"
#include "core/machine/kernel_catalog.hpp"
#include "core/units/quantity.hpp"

namespace tcsim::cli {

// What of a catalog is shown; all without a choice.
struct KernelChoice {
  std::optional<Bytes> element;
  std::optional<KernelScheme> scheme;
};

// `command` is what JSON and CSV name: "list kernels". The table is that of ttile, Fig. 7, for each
// instruction set, type and scheme: the share of the peak at the longest k, vectors across, columns
// down. JSON and CSV have every k.
void print(const KernelCatalog& catalog, const KernelChoice& choice, const std::string& command,
           Format format, std::ostream& out);

}  // namespace tcsim::cli
