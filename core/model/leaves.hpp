// Lines that an outer cache lacks, counted on the whole walk from further away. Executions of a
// loop's body that are small beside the cache, the leaves, touch each of their lines once, all
// together; packs around them are gone through as they are. What the next cache inside has is not
// asked for, and lines that leave it changed come back to this one. The lines of some sets stand
// for all. What a leaf loses and asks for again is not counted here.
//
// Where all that comes back from leaf to leaf nearly fills the cache, it depends on where arrays
// lie to one another what is lost; a formula knows it on average at best.
#pragma once

#include <optional>

#include "core/model/counted_cache.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// The outermost loop whose iterations are small enough beside the cache to be leaves; -1 if there
// is none.
int leaf_of(const Nest& nest, const SetAssociative& cache);

struct LeafCaches {
  SetAssociative inside;   // the next cache inside
  SetAssociative cache;    // that is counted
  bool exclusive = false;  // it has what leaves the one inside, and no line that is there
};

// What the cache lacks; lines have `line` bytes. Leaves are iterations of the loop at depth `leaf`.
// Empty where it would take long to find out.
std::optional<CountedLines> count_leaves(const Contraction& contraction, const Schedule& schedule,
                                         const Nest& nest, int leaf, const LeafCaches& caches,
                                         Bytes line);

}  // namespace tcsim
