// What this machine is made of: caches and who shares them, cores, packages, NUMA nodes. Several
// sources tell (the kernel's files, and hwloc, likwid and PAPI where tcsim was built with them);
// each is asked, and where they contradict one another the difference is said.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/units/quantity.hpp"
#include "microbench/geometry.hpp"

namespace tcsim {

struct NumaNode {
  int id = 0;
  int cores = 0;
  Bytes memory;

  bool operator==(const NumaNode&) const = default;
};

// What one source says; what it does not say is empty or 0.
struct Topology {
  std::string source;
  std::vector<CacheGeometry> caches;  // data and unified, innermost first
  int packages = 0, cores = 0, threads = 0;
  // The processors (hardware threads) of each core; cores that share caches stand together.
  std::vector<std::vector<int>> core_cpus;
  std::vector<NumaNode> nodes;

  bool operator==(const Topology&) const = default;
};

// From the files below `system`, as in /sys/devices/system, for the caches of processor `cpu`.
// Throws UnsupportedError if they describe no data cache.
Topology ask_kernel(const std::filesystem::path& system, int cpu);

// These are there where tcsim is built with the library that they ask.
// From hwloc: of this machine, or of one that was saved as hwloc XML.
Topology ask_hwloc(int cpu, const std::filesystem::path& xml = {});
Topology ask_likwid();
Topology ask_papi();

// What the sources say that tcsim was built with and that know this machine, the one to be believed
// first at the head: hwloc, kernel, likwid, PAPI. At most `most` of them are asked. Throws
// UnsupportedError if none knows a cache.
std::vector<Topology> ask_sources(int cpu, std::size_t most = 4);

struct MergedTopology {
  Topology topology;                 // its source names all
  std::vector<std::string> remarks;  // one for each figure about which the sources disagree
};

// Each figure from the first source that has it.
MergedTopology merge(const std::vector<Topology>& sources);

// One processor of each core, out of those that are allowed, in the order of the cores; at least
// the first allowed one.
std::vector<int> one_cpu_per_core(const Topology& topology, const std::vector<int>& allowed);

}  // namespace tcsim
