#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/machine/kernel_caches.hpp"
#include "exchange/draft.hpp"

namespace tcsim::exchange {

namespace fs = std::filesystem;

Draft read_kernel(const fs::path& folder) {
  if (std::error_code ignored; !fs::is_directory(folder, ignored)) {
    throw InputError(folder.string(), "is no folder", "give /sys/devices/system/cpu/cpu0/cache");
  }
  Draft draft;
  draft.format = "the kernel's cache files";
  const auto given = [](auto value) -> std::optional<decltype(value)> {
    if (value > decltype(value)(0)) return value;
    return {};
  };
  // The kernel counts hardware threads; those of one core share the innermost cache.
  int threads_per_core = 0;
  for (const KernelCache& c : read_kernel_caches(folder)) {
    if (c.level < 1 || c.capacity < Bytes(1)) {
      throw InputError(c.folder.string(), "a cache without level or size",
                       "give a folder of the form /sys/devices/system/cpu/cpu0/cache");
    }
    DraftLevel d;
    d.place = c.folder.string();
    d.name = fmt::format("L{}", c.level);
    d.capacity = c.capacity;
    d.ways = given(c.ways);
    d.sets = given(c.sets);
    d.line = given(c.line);
    if (const int threads = static_cast<int>(c.cpus.size()); threads > 0) {
      if (threads_per_core == 0) threads_per_core = threads;
      d.shared_by = std::max(1, threads / threads_per_core);
    }
    draft.caches.push_back(std::move(d));
  }
  return draft;
}

}  // namespace tcsim::exchange
