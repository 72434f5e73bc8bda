// The tile-size problem of acmtc-sc19 (Eq. 4, 5) for one choice of innermost loops, as a geometric
// program: minimise the slowest link's time over real tile sizes T[l][class] for every cache level
// l, where
//   - each operand moves, between level l and the next, the iteration space divided by the tile of
//     the class that it lacks. It is the tile of level l; the one of level l + 1 if that class is
//     innermost in the loops over level-l tiles, since reuse is full along the innermost loop;
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
  // Elements of the left and the right operand for each pair of indices: below 1 where tiles
  // overlap, as the image's of a convolution. Those of large tiles are taken for all.
  std::array<double, 2> share{1, 1};
  double least_seconds = 0;  // compute roof, 0 for none
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

// A lower bound, in closed form, on the time of any tiles of that choice. It takes every level by
// itself, of its footprint the largest term alone, and the next outer tile as the whole dimension.
double quick_bound(const RelaxationProblem& problem, const InnermostChoice& innermost);

// The `keep` best of all 3^levels choices, best first. Choices are solved in the order of their
// quick bounds. It stops when `keep` solutions are within 1 % of the next bound, since no later
// choice could be more than 1 % better. So where one link or the compute roof decides whatever the
// choice, `keep` problems are solved and not 27.
//
// Left out, as long as others remain, are choices with a class innermost whose dimension is no
// larger than its register tile, so that its loop has one iteration. `solved` returns the number of
// problems that were solved. Throws Interrupted.
std::vector<Relaxed> solve_best(const RelaxationProblem& problem, std::size_t keep, int& solved,
                                std::stop_token stop = {});

}  // namespace tcsim
