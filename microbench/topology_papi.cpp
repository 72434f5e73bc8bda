// PAPI's hardware information, as papi_mem_info shows it.
#include <papi.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "microbench/topology.hpp"

namespace tcsim {

namespace {

CacheGeometry cache(int level, const PAPI_mh_cache_info_t& c) {
  CacheGeometry g;
  g.level = level;
  g.capacity = Bytes(c.size);
  g.line = Bytes(c.line_size);
  // It writes SHRT_MAX for "fully associative".
  g.ways = c.associativity == std::numeric_limits<short>::max() ? c.num_lines
                                                                : std::max(0, c.associativity);
  g.shared_by = 0;
  return g;
}

}  // namespace

Topology ask_papi() {
  const int version =
      PAPI_is_initialized() != 0 ? PAPI_VER_CURRENT : PAPI_library_init(PAPI_VER_CURRENT);
  const PAPI_hw_info_t* known = version == PAPI_VER_CURRENT ? PAPI_get_hardware_info() : nullptr;
  if (known == nullptr) throw UnsupportedError("PAPI", "it does not know this machine", "");
  Topology t;
  t.source = "PAPI";
  t.packages = known->sockets;
  t.cores = known->sockets * known->cores;
  t.threads = known->totalcpus;
  for (int level = 0; level < std::min(known->mem_hierarchy.levels, PAPI_MAX_MEM_HIERARCHY_LEVELS);
       ++level) {
    for (const PAPI_mh_cache_info_t& c : known->mem_hierarchy.level[level].cache) {
      const int type = PAPI_MH_CACHE_TYPE(c.type);
      if (type != PAPI_MH_TYPE_DATA && type != PAPI_MH_TYPE_UNIFIED) continue;
      if (c.size > 0) t.caches.push_back(cache(level + 1, c));
    }
  }
  return t;
}

}  // namespace tcsim
