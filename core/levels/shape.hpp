// The family of schedules over explicit levels that tcsim chooses from. A shape is a schedule
// without its tile sizes; each loop's tile, and how many processes share it, is a variable. For a
// shape, time and what levels hold are posynomials in the variables: a geometric program.
//
// A chain is cut into parts: each intermediate has a home, the level that holds it between the
// statement that makes it and the one that reads it. Statements are fused at a link where the home
// is inside it. At a link, statements that are fused there as a whole loop over tiles of the
// indices that all of them share; where homes are the link's inner level itself, an intermediate
// is held around what makes it and what reads it, one after the other, each with loops of its own
// (the recurrence f(i, j) of section 5.1; its k is a split). Array tiles are moved outside the
// innermost loops of a band over indices that they lack: a band's order says which array stays.
// Processes share the outermost band of the level that they have each for themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/levels/count.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/levels/schedule.hpp"
#include "core/optimize/posynomial_program.hpp"

namespace tcsim::levels {

// By array: of an intermediate the level that holds it, of others the outermost level.
using Homes = std::vector<int>;

// A connected part of the chain whose intermediates stay inside the outermost level.
using Part = std::vector<int>;  // statements, ascending

// Whether the outermost level has room for inputs, outputs and the intermediates that go there.
bool has_room(const OperationTree& tree, const Hierarchy& hierarchy, const Homes& homes);

// What homes cut the chain into, in the order in which it runs.
std::vector<Part> parts_of(const OperationTree& tree, const Hierarchy& hierarchy,
                           const Homes& homes);

// Choices in the order in which a shape asks for them.
struct Decisions {
  std::vector<int> splits;  // of intermediates of which one is held around the others
  std::vector<int> orders;  // of bands; -1, or left out: none yet, so that each array stays
};

// A decision as it was asked for.
struct Asked {
  int options = 1;
  int usual = 0;           // what is taken without a reason
  int band = -1;           // of an order
  std::vector<int> stays;  // by option: the array that stays, or is held around the others
};

// Loops over tiles of all indices that some statements share.
struct Band {
  std::vector<int> statements;
  int level = 0;
  bool one_unit = true;    // nothing of the level is held between its statements
  std::vector<int> tiles;  // variables
};

struct Shape {
  struct Variable {
    int index = 0;
    int level = 0;
    int outer = -1;          // the tile around it; -1: the whole extent
    bool processes = false;  // how many share the loop, not its tile
    int tile = -1;           // of processes: the loop's tile
    int band = 0;            // of loops that can be exchanged
  };
  Node node;  // its loops' `tile` and `processes` are variables, or -1
  std::vector<Variable> variables;
  std::vector<std::vector<int>> teams;  // variables of processes that together share a level
  std::vector<Band> bands;
  std::vector<bool> undecided;        // by band: its order is open
  std::vector<Asked> splits, orders;  // as they were asked for

  bool complete() const;
};

Shape shape_of(const OperationTree& tree, const Hierarchy& hierarchy, const Part& part,
               const Homes& homes, const Decisions& decisions);

// With whole numbers for the variables: tiles are at most the tile around, and a team is at most
// as large as its level has processes. Loops of one tile are left out, and those in which nothing
// moves.
using Values = std::vector<std::int64_t>;
Node with_values(const OperationTree& tree, const Shape& shape, const Values& values);
// The most that a variable can be, the others as they are.
std::int64_t most_of(const OperationTree& tree, const Hierarchy& hierarchy, const Shape& shape,
                     const Values& values, int variable);

// The relaxed problem: real tiles. Of orders that are open each array has its best, so it bounds
// every way to decide them.
struct RelaxedShape {
  PosynomialProgram program;
  double constant = 0;  // seconds that the objective has too many
};
// Logarithms of the shape's variables in a solution. The program has, for processes, the range that
// they share in a round: between the tile of one and the tile around them, as all tiles are.
std::vector<double> variables_of(const Shape& shape, const std::vector<double>& solution);
RelaxedShape relaxed(const OperationTree& tree, const Hierarchy& hierarchy, const Shape& shape);
// No bound: with every row of a tile's last axis that is cut. How many there are once tiles are as
// large as those around them is no posynomial, so the bound has one row a transfer; tiles that this
// problem chooses are long where rows take time.
RelaxedShape with_all_rows(const OperationTree& tree, const Hierarchy& hierarchy,
                           const Shape& shape);

// What the homes take at least: each link moves once what has to pass it, shared evenly by all
// processes, and the arithmetic.
Seconds compulsory(const OperationTree& tree, const Hierarchy& hierarchy, const Homes& homes,
                   const Part& part);

}  // namespace tcsim::levels
