// The kernel's cache files of one processor, /sys/devices/system/cpu/cpuN/cache, as they stand.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim {

// What is hidden, as by a virtual machine, or makes no sense, is 0 or empty.
struct KernelCache {
  std::filesystem::path folder;
  std::int64_t level = 0;
  Bytes capacity;
  std::int64_t ways = 0;
  std::int64_t sets = 0;
  Bytes line;
  std::vector<int> cpus;  // hardware threads that share it
};

// FOLDER/index*: data and unified caches, innermost first; none if the folder cannot be read.
std::vector<KernelCache> read_kernel_caches(const std::filesystem::path& folder);

// The processors of a list in the kernel's form, "0-3,8", as it names them; empty if it is none.
std::vector<int> parse_cpu_list(std::string_view list);

}  // namespace tcsim
