// hwloc (the Portable Hardware Locality library).
#include <hwloc.h>

#include <memory>
#include <string_view>

#include "core/error.hpp"
#include "microbench/topology.hpp"

namespace tcsim {

namespace {

struct Destroy {
  void operator()(hwloc_topology* t) const { hwloc_topology_destroy(t); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

Handle load(const std::filesystem::path& xml) {
  hwloc_topology_t raw = nullptr;
  hwloc_topology_init(&raw);
  Handle handle(raw);
  if ((!xml.empty() && hwloc_topology_set_xml(raw, xml.c_str()) != 0) ||
      hwloc_topology_load(raw) != 0) {
    throw UnsupportedError("hwloc", "it cannot describe this machine", "");
  }
  return handle;
}

int count(hwloc_topology_t t, hwloc_obj_type_t type) {
  return std::max(0, hwloc_get_nbobjs_by_type(t, type));
}

CacheGeometry cache(hwloc_topology_t t, hwloc_obj_t object) {
  const auto& attributes = object->attr->cache;
  CacheGeometry c;
  c.level = static_cast<int>(attributes.depth);
  c.capacity = Bytes(static_cast<std::int64_t>(attributes.size));
  c.line = Bytes(attributes.linesize);
  // -1: fully associative.
  c.ways = attributes.associativity >= 0 ? attributes.associativity
           : c.line > Bytes(0)           ? c.capacity / c.line
                                         : 0;
  c.shared_by = hwloc_get_nbobjs_inside_cpuset_by_type(t, object->cpuset, HWLOC_OBJ_CORE);
  if (const char* inclusive = hwloc_obj_get_info_by_name(object, "Inclusive")) {
    c.inclusive = std::string_view(inclusive) == "1";
  }
  return c;
}

}  // namespace

Topology ask_hwloc(int cpu, const std::filesystem::path& xml) {
  const Handle handle = load(xml);
  hwloc_topology* const t = handle.get();
  Topology result;
  result.source = "hwloc";
  const hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(t, static_cast<unsigned>(cpu));
  for (hwloc_obj_t o = pu; o != nullptr; o = o->parent) {
    // Instruction caches are types of their own.
    if (hwloc_obj_type_is_dcache(o->type) && o->attr->cache.size > 0) {
      result.caches.push_back(cache(t, o));
    }
  }
  result.packages = count(t, HWLOC_OBJ_PACKAGE);
  result.cores = count(t, HWLOC_OBJ_CORE);
  result.threads = count(t, HWLOC_OBJ_PU);
  for (int i = 0; i < result.cores; ++i) {
    const hwloc_obj_t core = hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    std::vector<int> cpus;
    for (int c = hwloc_bitmap_first(core->cpuset); c >= 0; c = hwloc_bitmap_next(core->cpuset, c)) {
      cpus.push_back(c);
    }
    result.core_cpus.push_back(std::move(cpus));
  }
  for (int i = 0; i < count(t, HWLOC_OBJ_NUMANODE); ++i) {
    const hwloc_obj_t node = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    result.nodes.push_back({static_cast<int>(node->os_index),
                            hwloc_get_nbobjs_inside_cpuset_by_type(t, node->cpuset, HWLOC_OBJ_CORE),
                            Bytes(static_cast<std::int64_t>(node->attr->numanode.local_memory))});
  }
  return result;
}

}  // namespace tcsim
