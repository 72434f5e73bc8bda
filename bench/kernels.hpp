// tcsim bench kernels: the microkernels alone, operands in the first cache, and the catalog in
// which their speeds are kept for schedules that are composed of several.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/units/quantity.hpp"
#include "kernels/shapes.hpp"

namespace tcsim::bench {

struct KernelPoint {
  std::int64_t k = 0;
  FlopsPerSecond rate;  // median
  double of_peak = 0;   // median of the shares of the peak measured around each repetition
};

// A register tile of an instruction set's family; those that schedules name are among them.
struct MeasuredKernel {
  KernelShape shape;
  std::vector<KernelPoint> points;  // by rising k
  double best_of_peak() const;
};

struct KernelCatalog {
  std::string tcsim_version;
  std::string processor;  // as this_processor() has it
  std::vector<MeasuredKernel> kernels;
};

struct KernelOptions {
  int repetitions = 5;
  Seconds at_least{0.001};  // of one repetition
  std::function<void(double share)> progress;
  std::stop_token stop;
};

// Every register tile of every instruction set that runs here, for several k from 4 up whose
// operands and result fit the first cache. C is added to. Throws Interrupted.
std::vector<MeasuredKernel> bench_kernels(const KernelOptions& options);

inline constexpr int catalog_schema = 1;

// JSON.
std::string to_json(const KernelCatalog& catalog);
// Throws InputError (place is `place`) for what is no catalog, or of another schema.
KernelCatalog parse_catalog(const std::string& json, const std::string& place);

// Beside the host's machine file: kernels.json. Empty without a home folder.
std::filesystem::path catalog_file();
// Of the file, if it is there, readable and of this processor.
std::optional<KernelCatalog> kept_catalog();
// Returns whether it was written.
bool keep(const KernelCatalog& catalog);

}  // namespace tcsim::bench
