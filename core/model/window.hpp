// The window model: misses of a tiled nest with packs, under LRU, level by level.
//
// Every touch of a line is either its first one ever (cold) or follows an earlier one: carried by
// the innermost loop that lies between the two, or handed from a Pack to the nest that reads its
// buffer. The touches of an array split exactly into these classes. For each class and each
// position of the line within the loops inside, the window is the number of distinct lines that
// are touched in between: after x in the earlier iteration (S), before x in the later one (P),
// counted once for an array that both iterations share and twice for one that moves on. The
// misses are the cold touches plus, for each class, its touches times the share of positions whose
// window does not fit (core/model/occupancy.hpp). Visits are counted with remainders.
//
// Source: docs/design.md, "The window model"; it generalises acmtc-sc19, Listing 3.
#pragma once

#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/model/shared_counts.hpp"
#include "core/model/traffic.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// How closely the windows are looked at. `counted` is the model. `full` leaves out what is counted
// on addresses (core/model/copies.hpp, pieces.hpp, leaves.hpp), which takes up to some tens of
// milliseconds; `coarse` also tells fewer positions apart and takes a cache's chance to hold a
// window from the window's length alone: several times quicker, for comparing many schedules before
// the best are judged in full.
enum class Detail { counted, full, coarse };

// Traffic of a schedule that has passed check(). All caches of the machine must have lines of one
// size; throws UnsupportedError otherwise. `counts` remembers what was counted from call to call.
// Windows are taken `margin` times as long as they are: above 1, only what fits with room to spare
// is counted as a hit.
Traffic window_traffic(const Contraction& contraction, const Schedule& schedule,
                       const Machine& machine, SharedCounts& counts, double margin = 1,
                       Detail detail = Detail::counted);

// What a schedule moves beside its first touches, and how many of those there are: for one that is
// not the first to touch its tensors (core/fusion/cached_model.hpp). In lines, by cache.
struct WarmLines {
  Arrays arrays;
  LinkTraffic registers;
  std::vector<PerArray> in, out;  // over the link outside the cache, without first touches
  PerArray first;                 // touched first
  // Of buffers, the largest chance that a line leaves between its copy and the end of its use.
  std::vector<PerArray> gone;
};
WarmLines warm_lines(const Contraction& contraction, const Schedule& schedule,
                     const Machine& machine, SharedCounts& counts, Detail detail = Detail::full);

// The same by acmtc-sc19: Listing 3 over every loop with exact visit counts, and the packing cost
// of Eq. 10-14 (sources once per Pack; buffers written once per Pack to the levels inside).
Traffic listing3_traffic(const Contraction& contraction, const Schedule& schedule,
                         const Machine& machine);

// Size of the machine's cache lines. Throws UnsupportedError for a machine that the models do not
// cover: caches with lines of different sizes, none or more than 8 of them, scratchpads, a
// replacement other than LRU, write-through, stores that do not allocate, prefetches, victim
// caches. An inclusive level is taken as one that makes no promise: it is much larger than what is
// inside it.
Bytes common_line(const Machine& machine);

// Lines that a cache keeps from memory: its own, and if it is exclusive those of the level inside
// it as well (acmtc-sc19, 5.5).
Lines kept_lines(const Machine& machine, LevelId cache);

// The sets of all caches, with kept_lines() in them.
std::vector<SetAssociative> sets_of_caches(const Machine& machine);

}  // namespace tcsim
