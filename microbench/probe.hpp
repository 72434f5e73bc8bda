// Measuring a machine whose caches are known, with loops that are given: probe_host() without the
// choice of either, so that tests can make both.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "microbench/geometry.hpp"
#include "microbench/host.hpp"
#include "microbench/loops.hpp"

namespace tcsim {

// How much each level's stream runs over, innermost first and memory last: half of L1, of the
// outer caches the geometric middle between the one inside and their own capacity (at most three
// quarters of it), of memory four times the last cache but at most 512 MiB. Whole 512 B.
std::vector<Bytes> working_sets(const std::vector<CacheGeometry>& caches);

// Lowers each bandwidth that exceeds that of the level inside it to that one, and says so in its
// source: noise can make an outer level look faster, and check() refuses such a machine.
void lower_to_inner(std::vector<Level>& levels, Hertz frequency);

// The machine "host" on the calling thread; it passes check().
Machine probe(const std::vector<CacheGeometry>& caches, const std::string& description,
              const ProbeLoops& loops, const ProbeOptions& options);

}  // namespace tcsim
