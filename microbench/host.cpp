#include "microbench/host.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "microbench/geometry.hpp"
#include "microbench/keep.hpp"
#include "microbench/loops.hpp"
#include "microbench/measure.hpp"
#include "microbench/probe.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

std::string this_processor() {
  std::ifstream in("/proc/cpuinfo");
  return processor_name(std::string(std::istreambuf_iterator<char>(in), {}));
}

std::vector<CacheGeometry> caches_of(int cpu) {
  return read_geometry(fmt::format("/sys/devices/system/cpu/cpu{}/cache", cpu));
}

// A home folder may be shared by machines whose processors have the same name, as virtual ones
// often do, so the caches are compared too.
bool is_this_machine(const Machine& kept) {
  if (kept.description != this_processor()) return false;
  const std::vector<CacheGeometry> caches = caches_of(Pinned().cpu());
  if (kept.cache_count() != static_cast<int>(caches.size())) return false;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const Level& l = kept.levels[i];
    if (l.capacity.value != caches[i].capacity || l.ways.value != caches[i].ways ||
        l.line.value != caches[i].line || l.shared_by != caches[i].shared_by) {
      return false;
    }
  }
  return kept.core.vector_bits.value == best_loops().vector_bits;
}

// A variable that names an absolute path; anything else is to be ignored (XDG base directories).
fs::path folder_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

}  // namespace

Machine probe_host(const ProbeOptions& options) {
  const Pinned pinned;
  return probe(caches_of(pinned.cpu()), this_processor(), best_loops(), options);
}

fs::path host_file() {
  if (const fs::path cache = folder_in("XDG_CACHE_HOME"); !cache.empty()) {
    return cache / "tcsim" / "host.toml";
  }
  if (const fs::path home = folder_in("HOME"); !home.empty()) {
    return home / ".cache" / "tcsim" / "host.toml";
  }
  return {};
}

Machine host_machine(const ProbeOptions& options) {
  return kept_or_probed(host_file(), is_this_machine, [&] { return probe_host(options); });
}

}  // namespace tcsim
