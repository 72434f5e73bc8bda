// The data caches of one processor as the kernel describes them, and the processor's name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim {

struct CacheGeometry {
  int level = 0;
  Bytes capacity;
  std::int64_t ways = 0;
  Bytes line;
  int shared_by = 1;  // cores
  // What had to be guessed or changed, since the kernel did not say or contradicted itself.
  std::string note;

  bool operator==(const CacheGeometry&) const = default;
};

// Reads FOLDER/index*/: data and unified caches, innermost first, at least one. `folder` is
// /sys/devices/system/cpu/cpuN/cache. Throws UnsupportedError if there is none.
std::vector<CacheGeometry> read_geometry(const std::filesystem::path& folder);

// Number of processors in the kernel's list form, "0-3,8"; 0 if it is none.
int count_cpu_list(std::string_view list);

// "model name" of the text of /proc/cpuinfo; "unknown processor" if it has none.
std::string processor_name(std::string_view cpuinfo);

}  // namespace tcsim
