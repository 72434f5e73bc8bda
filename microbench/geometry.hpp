// The data caches of one processor as the kernel describes them, and the processor's name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/kernel_caches.hpp"
#include "core/units/quantity.hpp"

namespace tcsim {

struct CacheGeometry {
  int level = 0;
  Bytes capacity;
  std::int64_t ways = 0;
  Bytes line;
  int shared_by = 1;  // cores; 0: the source does not say
  // Whether it holds all that the caches inside it hold; the kernel does not say.
  std::optional<bool> inclusive{};
  // What had to be guessed or changed, since the kernel did not say or contradicted itself.
  std::string note;

  bool operator==(const CacheGeometry&) const = default;
};

// Fills in what is missing or cannot be, and notes it: a virtual machine may hide a figure or
// invent one that does not fit the others. `sets` as the source has them, 0 if it does not say.
void mend(CacheGeometry& cache, std::int64_t sets);

// Reads FOLDER/index*/: data and unified caches, innermost first, at least one. `folder` is
// /sys/devices/system/cpu/cpuN/cache. Throws UnsupportedError if there is none.
std::vector<CacheGeometry> read_geometry(const std::filesystem::path& folder);

// "model name" of the text of /proc/cpuinfo; "unknown processor" if it has none.
std::string processor_name(std::string_view cpuinfo);

}  // namespace tcsim
