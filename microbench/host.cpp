#include "microbench/host.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "core/machine/instruction_limit.hpp"
#include "microbench/keep.hpp"
#include "microbench/loops.hpp"
#include "microbench/probe.hpp"
#include "microbench/team.hpp"
#include "microbench/topology.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

// Of the time that a probe takes, as progress has it. Source: a quick one of both parts.
constexpr double share_before_refining = 0.9;

// A home folder may be shared by machines whose processors have the same name, as virtual ones
// often do, so the caches are compared too.
bool is_this_machine(const Machine& kept) {
  if (kept.description != this_processor()) return false;
  // The first source decides what is taken of all of them, and the others take their time.
  const std::vector<CacheGeometry> caches =
      merge(ask_sources(allowed_cpus().front(), 1)).topology.caches;
  if (kept.cache_count() != static_cast<int>(caches.size())) return false;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const Level& l = kept.levels[i];
    if (l.capacity.value != caches[i].capacity || l.ways.value != caches[i].ways ||
        l.line.value != caches[i].line || l.shared_by != caches[i].shared_by) {
      return false;
    }
  }
  return kept.core.vector_bits.value == loops_here()[0]->vector_bits;
}

// A variable that names an absolute path; anything else is to be ignored (XDG base directories).
fs::path folder_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

}  // namespace

Probed probe_host(const ProbeOptions& options) {
  const std::vector<int> allowed = allowed_cpus();
  MergedTopology topology = merge(ask_sources(allowed.front()));
  const std::vector<int> cpus = one_cpu_per_core(topology.topology, allowed);
  std::vector<const InstructionSetLoops*> sets;
  for (const auto* const* s = loops_here(); *s != nullptr; ++s) sets.push_back(*s);
  ProbeOptions part = options;
  const auto share = [&](double from, double to) {
    if (!options.progress) return;
    part.progress = [&options, from, to](const std::string& what, double done) {
      options.progress(what, from + done * (to - from));
    };
  };
  share(0, options.refine ? share_before_refining : 1);
  Probed probed = assemble(topology, this_processor(), measure(topology, cpus, sets, part));
  if (options.refine) {
    share(share_before_refining, 1);
    options.refine(probed.machine, part);
  }
  return probed;
}

fs::path cache_folder() {
  fs::path folder;
  if (const fs::path cache = folder_in("XDG_CACHE_HOME"); !cache.empty()) {
    folder = cache / "tcsim";
  } else if (const fs::path home = folder_in("HOME"); !home.empty()) {
    folder = home / ".cache" / "tcsim";
  } else {
    return {};
  }
  const int bits = most_vector_bits();
  return bits == 512 ? folder : folder / (bits == 256 ? "avx2" : "plain");
}

fs::path host_file() {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / "host.toml";
}

std::string this_processor() {
  std::ifstream in("/proc/cpuinfo");
  return processor_name(std::string(std::istreambuf_iterator<char>(in), {}));
}

Machine host_machine(const ProbeOptions& options) {
  return kept_or_probed(host_file(), is_this_machine, [&] { return probe_host(options).machine; });
}

}  // namespace tcsim
