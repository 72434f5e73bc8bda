#include "core/io/available_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>

#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t unlimited_bytes = std::numeric_limits<std::int64_t>::max();
constexpr double small_need = 64 << 20;  // to ask takes as long as to touch some of that

std::int64_t by_kernel(const fs::path& proc) {
  std::ifstream info(proc / "meminfo");
  std::string key, rest;
  while (info >> key) {
    std::int64_t kib = 0;
    if (key == "MemAvailable:" && info >> kib) return kib * 1024;
    std::getline(info, rest);
  }
  return unlimited_bytes;
}

// What files of the group hold that can be dropped counts as used; the kernel drops it.
std::int64_t droppable(const fs::path& group) {
  std::ifstream in(group / "memory.stat");
  std::string key;
  std::int64_t value = 0;
  while (in >> key >> value) {
    if (key == "inactive_file") return value;
  }
  return 0;
}

std::int64_t left_in(const fs::path& group) {
  std::int64_t most = 0, used = 0;
  std::ifstream max(group / "memory.max"), current(group / "memory.current");
  if (!(max >> most) || !(current >> used)) return unlimited_bytes;  // "max", or no such group
  return std::max<std::int64_t>(0, most - used + std::min(used, droppable(group)));
}

// Of the process's group and those around it.
std::int64_t by_groups(const fs::path& proc, const fs::path& groups) {
  std::int64_t least = unlimited_bytes;
  std::ifstream in(proc / "self/cgroup");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::/")) continue;
    fs::path group = fs::path(line.substr(4)).lexically_normal();
    // In a container the group's own folder is often the root of what is seen.
    least = std::min(least, left_in(groups));
    for (; !group.empty() && group != group.parent_path(); group = group.parent_path()) {
      least = std::min(least, left_in(groups / group));
    }
  }
  return least;
}

}  // namespace

Bytes available_memory(const fs::path& proc, const fs::path& groups) {
  return Bytes(std::min(by_kernel(proc), by_groups(proc, groups)));
}

Bytes available_memory() { return available_memory("/proc", "/sys/fs/cgroup"); }

void require_available(double bytes, const std::string& place, const std::string& what,
                       const std::string& mend, const std::string& parts) {
  if (bytes <= small_need) return;
  const Bytes have = available_memory();
  if (bytes <= static_cast<double>(have.value())) return;
  constexpr double most = 0x1p62;
  const std::string need = bytes < most ? to_display(Bytes(std::llround(bytes)))
                                        : to_display(Bytes(std::llround(most))) + " or more";
  throw UnsupportedError(place,
                         fmt::format("{} need {}{}, this machine has {} available", what, need,
                                     parts.empty() ? "" : " (" + parts + ")", to_display(have)),
                         mend);
}

}  // namespace tcsim
