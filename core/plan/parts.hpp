// How several threads divide a schedule's work. Along m, n or the batch each of them forms results
// of its own. Along k, where the schedule says so (`parallel k`), pieces of the sums are formed
// apart and added in the order of k: as many pieces on any number of threads, one as well, so that
// the result is the same to the last bit.
#pragma once

#include <vector>

#include "core/plan/tile.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/schedule.hpp"

namespace tcsim {

struct Division {
  DimClass group = DimClass::batch;  // that is cut
  std::vector<Tile> parts;           // one for each thread; of k all pieces, in order
  double largest = 1;                // share of the work that the busiest thread has
};

// Among at most so many threads, >= 1: along what the schedule says (Schedule::parallel), or along
// m, n or the batch, whichever leaves the largest part smallest, in whole register tiles. Of those
// that do, to a hundredth of the work, the one with the smallest operands that every thread reads
// all of. `path` is the schedule's only one.
Division division(const Contraction& contraction, const Schedule& schedule, const Path& path,
                  int threads);

// At most `threads`, at least 1, and no more than have work to do for as long as it takes them to
// begin and to end together, some microseconds.
int threads_worth(const Contraction& contraction, int threads);

// Whether threads have less to do where they divide the sums than where they divide what they
// otherwise would, and the results of all pieces are few beside the operands.
bool sums_are_worth_dividing(const Contraction& contraction, const Schedule& schedule,
                             const Path& path, int threads);

}  // namespace tcsim
