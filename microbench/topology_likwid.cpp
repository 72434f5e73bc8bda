// likwid's library, as likwid-topology shows it.
#include <likwid.h>

#include <algorithm>

#include "core/error.hpp"
#include "microbench/team.hpp"
#include "microbench/topology.hpp"

namespace tcsim {

Topology ask_likwid() {
  // likwid may move the thread over all processors while it looks around; Pinned puts it back.
  const Pinned pinned;
  if (topology_init() != 0) throw UnsupportedError("likwid", "it does not know this machine", "");
  const CpuTopology& known = *get_cpuTopology();
  Topology t;
  t.source = "likwid";
  t.packages = static_cast<int>(known.numSockets);
  t.cores = static_cast<int>(known.numSockets * known.numCoresPerSocket);
  t.threads = static_cast<int>(known.numHWThreads);
  const unsigned threads_per_core = std::max(1u, known.numThreadsPerCore);
  for (unsigned i = 0; i < known.numCacheLevels; ++i) {
    const CacheLevel& c = known.cacheLevels[i];
    if (c.type != DATACACHE && c.type != UNIFIEDCACHE) continue;
    CacheGeometry g;
    g.level = static_cast<int>(c.level);
    g.capacity = Bytes(c.size);
    g.ways = c.associativity;
    g.line = Bytes(c.lineSize);
    g.shared_by = static_cast<int>(c.threads / threads_per_core);
    // Its "inclusive" is 0 also where it does not know.
    if (c.inclusive != 0) g.inclusive = true;
    t.caches.push_back(g);
  }
  topology_finalize();
  return t;
}

}  // namespace tcsim
