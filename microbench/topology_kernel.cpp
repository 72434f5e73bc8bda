// The kernel's files: /sys/devices/system/cpu and .../node.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "microbench/topology.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

std::vector<int> cpus_in(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return parse_cpu_list(line);
}

int number_in(const fs::path& file) {
  std::ifstream in(file);
  int number = 0;
  in >> number;
  return number;
}

// The outermost cache's processors: cores that share it stand together.
std::vector<int> outermost_sharers(const fs::path& cpu) {
  std::vector<int> widest;
  for (int index = 0; fs::exists(cpu / "cache" / ("index" + std::to_string(index))); ++index) {
    auto cpus = cpus_in(cpu / "cache" / ("index" + std::to_string(index)) / "shared_cpu_list");
    if (cpus.size() >= widest.size()) widest = std::move(cpus);
  }
  return widest;
}

Bytes memory_of(const fs::path& node) {
  std::ifstream in(node / "meminfo");
  for (std::string line; std::getline(in, line);) {
    long kib = 0;
    const auto at = line.find("MemTotal:");
    if (at != line.npos && std::sscanf(line.c_str() + at, "MemTotal: %ld kB", &kib) == 1) {
      return Bytes(kib * 1024);
    }
  }
  return Bytes(0);
}

}  // namespace

Topology ask_kernel(const fs::path& system, int cpu) {
  Topology t;
  t.source = "kernel";
  const auto folder = [&](int c) { return system / "cpu" / ("cpu" + std::to_string(c)); };
  t.caches = read_geometry(folder(cpu) / "cache");

  std::vector<int> online = cpus_in(system / "cpu" / "online");
  std::set<int> packages;
  // Sorted by package, then by the cache they share, then by number.
  std::map<std::tuple<int, std::vector<int>, int>, std::vector<int>> cores;
  std::map<int, int> core_of;
  for (int c : online) {
    std::vector<int> siblings = cpus_in(folder(c) / "topology" / "thread_siblings_list");
    if (siblings.empty()) siblings = {c};
    const int package = number_in(folder(c) / "topology" / "physical_package_id");
    packages.insert(package);
    core_of[c] = siblings.front();
    cores[{package, outermost_sharers(folder(c)), siblings.front()}] = siblings;
  }
  for (const auto& [key, siblings] : cores) t.core_cpus.push_back(siblings);
  t.packages = static_cast<int>(packages.size());
  t.cores = static_cast<int>(cores.size());
  t.threads = static_cast<int>(online.size());

  for (int id : cpus_in(system / "node" / "online")) {
    const fs::path node = system / "node" / ("node" + std::to_string(id));
    std::set<int> node_cores;
    for (int c : cpus_in(node / "cpulist")) node_cores.insert(core_of.count(c) ? core_of[c] : c);
    t.nodes.push_back({id, static_cast<int>(node_cores.size()), memory_of(node)});
  }
  return t;
}

}  // namespace tcsim
