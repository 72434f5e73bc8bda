#include "microbench/geometry.hpp"

#include <algorithm>
#include <bit>

#include "core/error.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t usual_line = 64, usual_ways = 8;

}  // namespace

void mend(CacheGeometry& c, std::int64_t sets) {
  const auto note = [&](const std::string& text) { c.note += (c.note.empty() ? "" : ", ") + text; };
  if (c.line < Bytes(1) || !std::has_single_bit(static_cast<std::uint64_t>(c.line.value()))) {
    c.line = Bytes(usual_line);
    note("line assumed");
  }
  if (c.ways < 1) {
    const std::int64_t way = sets * c.line.value();
    c.ways = way > 0 ? c.capacity.value() / way : 0;
    if (c.ways < 1) c.ways = usual_ways;
    note("ways assumed");
  }
  const std::int64_t set = c.ways * c.line.value();
  if (c.capacity.value() % set != 0) {
    c.capacity = Bytes(std::max<std::int64_t>(1, c.capacity.value() / set) * set);
    note("capacity rounded to whole sets");
  }
}

std::string processor_name(std::string_view cpuinfo) {
  const std::string_view key = "model name";
  while (!cpuinfo.empty()) {
    const std::string_view line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(cpuinfo.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (begin == line.npos) break;
    return std::string(line.substr(begin, line.find_last_not_of(" \t") - begin + 1));
  }
  return "unknown processor";
}

std::vector<CacheGeometry> read_geometry(const fs::path& folder) {
  std::vector<CacheGeometry> caches;
  for (const KernelCache& k : read_kernel_caches(folder)) {
    if (k.level < 1 || k.capacity < Bytes(1)) continue;
    CacheGeometry c;
    c.level = static_cast<int>(k.level);
    c.capacity = k.capacity;
    c.ways = k.ways;
    c.line = k.line;
    c.shared_by = std::max(1, static_cast<int>(k.cpus.size()));
    mend(c, k.sets);
    caches.push_back(c);
  }
  if (caches.empty()) {
    throw UnsupportedError(folder.string(), "the kernel describes no data cache there",
                           "name a machine file with --machine");
  }
  // The kernel counts hardware threads; those of one core share the innermost cache.
  const int threads_per_core = caches.front().shared_by;
  for (CacheGeometry& c : caches) c.shared_by = std::max(1, c.shared_by / threads_per_core);
  return caches;
}

}  // namespace tcsim
