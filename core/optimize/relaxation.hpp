// The tile-size problem of acmtc-sc19 (Eq. 4, 5) for one choice of innermost loops, as a geometric
// program: minimise the slowest link's time over real tile sizes T[l][class] for every cache level
// l, where
//   - the traffic between level l and the next is, for each operand, the iteration space over the
//     tile of the class that the operand lacks, taken one level further out if that class is
//     innermost in the loops over level-l tiles (full reuse along the innermost loop);
//   - a tile's footprint fits its level, and tiles nest.
// In log space the problem is convex, so NLopt's SLSQP finds its global optimum.
#pragma once

#include <array>
#include <stop_token>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

// Real tile sizes by class m, n, k.
using RealTile = std::array<double, 3>;

struct RelaxationProblem {
  RealTile extents;                         // of m, n, k; the batch is a factor of the time only
  RealTile smallest;                        // register tile: mr, nr, 1
  std::vector<double> capacity;             // elements, innermost cache first; > 0
  std::vector<double> seconds_per_element;  // of each link, registers first: capacity.size() + 1
  double output_weight = 2;                 // elements moved per visit of an element of C
  double least_seconds = 0;                 // compute roof, 0 for none
};

// For each cache level the class (0 m, 1 n, 2 k) of the innermost loop over its tiles.
using InnermostChoice = std::vector<int>;

struct Relaxed {
  InnermostChoice innermost;
  std::vector<RealTile> tiles;       // of each cache level
  std::vector<double> link_seconds;  // of each link
  double seconds = 0;                // the largest of those and least_seconds
  bool solved = false;               // false: the solver stopped early; tiles are feasible still
};

Relaxed solve(const RelaxationProblem& problem, const InnermostChoice& innermost);

// A time that no tiles of that choice are below, in closed form: every level by itself, its
// footprint's largest term alone, and the tile one level further out as large as the dimension.
double quick_bound(const RelaxationProblem& problem, const InnermostChoice& innermost);

// The `keep` best of all 3^levels choices, best first. Choices are solved in the order of their
// quick bounds, and no more once `keep` are solved that are not 1 % above the next bound: that one
// and all after it could hardly be better. So where one link or the compute roof decides whatever
// the choice, `keep` problems are solved and not 27. A class whose dimension is no larger than its
// register tile moves nothing when it is innermost: such choices are left out where others remain.
// `solved` returns how many problems were. Throws Interrupted.
std::vector<Relaxed> solve_best(const RelaxationProblem& problem, std::size_t keep, int& solved,
                                std::stop_token stop = {});

}  // namespace tcsim
