// What copies touch again after losing it, counted by copying. A copy goes through its source in an
// order of its own (core/plan/pack_order.hpp): where the source's stride-one dimension lies behind
// others, or its rows end within lines, it comes back to lines, and how much lies in between no
// formula tells. So a few of a schedule's copies are made, line by line, through caches that are
// empty at first, and stand for all.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Of all copies by one Move together, lines that a cache lacks though the same copy touched them
// before; by cache, the innermost first.
struct CopiedAgain {
  std::vector<double> source, buffer;
};

// The Move is step `depth` of the nest. Lines have `line` bytes. At most `most_elements` elements
// are copied: of larger copies the beginning, and what comes back later counts as lost where the
// caches are smaller than that: few copies rather than beginnings. None are made where a plan is
// too large.
CopiedAgain copied_again(const Contraction& contraction, const Schedule& schedule, const Nest& nest,
                         int depth, const std::vector<SetAssociative>& caches, Bytes line,
                         std::int64_t most_elements = 1 << 19);

}  // namespace tcsim
