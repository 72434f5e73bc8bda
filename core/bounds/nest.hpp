// A statement with its sizes, as the upper bound reads it: loops, and arrays that they index.
// Nothing else of a workload decides what must move.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bounds/lower.hpp"
#include "core/bounds/problem.hpp"
#include "core/workload/affine.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bounds {

// Where a dimension is in tables by dimension.
constexpr std::size_t place(DimId d) { return static_cast<std::size_t>(index(d)); }

struct Nest {
  struct Array {
    std::string name;
    std::vector<Affine> axes;  // by index in `extents`; constants never matter
    // What bringing an element costs: 2 where its store counts too, as each stay of an output ends
    // with one.
    int weight = 1;
    // Elements begin as zeros that are made in the store: what brings each for the first time is
    // not counted, only its store.
    bool starts_at_zero = false;
    bool operator==(const Array&) const = default;
  };
  std::vector<std::int64_t> extents;  // at least 1
  std::vector<Array> arrays;          // the first is written, the others are read

  bool operator==(const Nest&) const = default;
};

// One of the problem's statements, with the dimensions that it has: `dims` has their indices in
// the problem. Throws UsageError for an extent that is not known.
struct StatementNest {
  Nest nest;
  std::vector<DimId> dims;
};
StatementNest nest_of(const Problem& problem, std::size_t statement, Moves moves);
// C, A and B; dimensions as the contraction has them.
Nest nest_of(const Contraction& contraction, Moves moves);

// The same with fewer dimensions: those that are axes of their own in the same arrays are one,
// since any pieces of them hold the same elements; those of extent 1 are gone. A product above
// most_extent is that: upper_bound() refuses it, and for samples of a form it is long enough.
inline constexpr std::int64_t most_extent = std::int64_t{1} << 62;
struct FusedNest {
  Nest nest;
  // By dimension of `nest`, what it was: the fastest first. Extents are their products.
  std::vector<std::vector<DimId>> dims;
};
FusedNest fused(const Nest& nest);

// Multiply-adds; in floating point since they may be more than 2^63.
double iterations(const Nest& nest);

}  // namespace tcsim::bounds
