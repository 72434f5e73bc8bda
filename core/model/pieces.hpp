// Lines that the innermost cache lacks, counted in pieces of a schedule's walk. Where arrays nearly
// fill the cache it depends on where they lie to one another which lines leave, and no formula
// tells. So a few pieces, spread over the walk, are walked line by line, and stand for all.
#pragma once

#include <optional>
#include <vector>

#include "core/model/counted_cache.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct CountedPieces {
  int depth = 0;       // of the loop whose iterations are pieces
  CountedLines lines;  // by all pieces together; of packs, those inside that loop
  // The same, with each alone for parts of the walk like it. None if the walk is one piece.
  std::vector<CountedLines> each;
};

// Lines have `line` bytes. Empty where no piece fills the cache, or it would take long to find out.
std::optional<CountedPieces> count_pieces(const Contraction& contraction, const Schedule& schedule,
                                          const Nest& nest, const SetAssociative& cache,
                                          Bytes line);

}  // namespace tcsim
