// The upper bound without tile sizes: an expression of the extents and the capacity S alone (ioopt,
// section 6). Every dimension's tile is 1, the whole extent, or a side that all the others share;
// the side is what fills the store, the root of a quadratic equation.
//
// It is ioopt's bound, with N / T tiles of a dimension and sides that need not be whole. So it says
// how a bound grows. What a schedule really moves is upper_bound()'s to say.
#pragma once

#include <optional>
#include <vector>

#include "core/bounds/cost.hpp"
#include "core/bounds/expression.hpp"
#include "core/bounds/nest.hpp"
#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

inline constexpr const char* side_symbol = "Delta";

enum class TileKind { one, side, whole };

// A tiling of a fused nest without its numbers.
struct TilePattern {
  std::vector<DimId> permutation;  // as of a Tiling
  std::vector<int> levels;         // reuse level by array
  std::vector<TileKind> tiles;     // by dimension
};

struct ClosedForm {
  FusedNest nest;  // its extents are those of a sample
  TilePattern pattern;
  Expression moved;
  // The same with the symbol Delta for the side, which is shorter to read.
  Expression moved_by_side;
  // The side, and the extents of the dimensions that have it: it holds for sides from 1 to those.
  Expression side;
  std::vector<Expression> sides_of;

  // Whether the side fits these values. Otherwise the expression may be below any bound.
  bool holds(const Values& values) const;
};

// Of a pattern for fused_sample()'s nest; nothing where the store's equation is not quadratic, or
// no tile is a side.
std::optional<ClosedForm> closed_form(const Problem& problem, std::size_t statement, Moves moves,
                                      const TilePattern& pattern);

// The pattern that moves least where dimensions are much longer than the sides, and these much
// longer than dimensions that are called small or much shorter than their partners in a sum. Which
// array stays is decided by known extents; of those that move as much, the last.
std::optional<ClosedForm> closed_form(const Problem& problem, std::size_t statement, Moves moves);

// The statement's loops at such extents; dimensions that are always together are one.
FusedNest fused_sample(const Problem& problem, std::size_t statement, Moves moves);

// ioopt's expressions for a tiling (Eqs. of sections 4.1 and 4.2), in T_ and the dimension's name:
// what moves, and what must fit. `permutation` and `levels` are of the statement's own dimensions.
struct TilingExpressions {
  Expression moved, held;
};
TilingExpressions tiling_expressions(const Problem& problem, std::size_t statement, Moves moves,
                                     const std::vector<DimId>& permutation,
                                     const std::vector<int>& levels);

}  // namespace tcsim::bounds
