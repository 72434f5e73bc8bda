// The slow twin of core/bounds: the fewest loads with which a tiny nest can be computed, by search.
// The store holds `capacity` elements and is addressed: what it holds is chosen, not found out by a
// rule. A statement needs all its elements in it at once, and its sum is added to in place.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tcsim::test {

// One statement in a nest, out += in * in ...
struct TinyNest {
  using Axis = std::vector<std::pair<int, int>>;  // dimension, coefficient
  using Array = std::vector<Axis>;
  std::vector<int> extents;
  std::vector<Array> arrays;  // the first is written, the others are read

  std::int64_t iterations() const;
};

// What it costs to bring an element of the output into the store: for the first time, and when it
// was there before. With {1, 1} loads are counted and sums are added to what the output has. {0, 1}
// is for sums that begin as zeros, {2, 2} and {1, 2} count stores too: each stay ends with one.
struct OutputCost {
  int first = 1, again = 1;
};

// The nest unrolled: which elements each instance needs. Elements from 0 to `outputs` - 1 are
// written.
struct Unrolled {
  int elements = 0, outputs = 0;
  std::vector<std::vector<int>> instances;  // the first element is the one that is written
};

// In the order of the loops, the last dimension fastest.
Unrolled unroll(const TinyNest& nest);
// In the order of a tiled nest: `permutation` has the loops over tiles from the outermost to the
// innermost; within a tile the last dimension is fastest.
Unrolled unroll(const TinyNest& nest, const std::vector<int>& permutation,
                const std::vector<int>& tiles);

// The least cost with these instances in this order: what goes is what is used last (Belady).
// Nothing where an instance needs more than `capacity` elements.
std::optional<std::int64_t> ideal_cost(const Unrolled& nest, int capacity, OutputCost output);

// The least over all tiles and all permutations.
std::optional<std::int64_t> least_tiled_cost(const TinyNest& nest, int capacity, OutputCost output);

// The least over all orders of the instances, by A* over what is done and what is in the store;
// nothing as above, and where more than `most` states are seen. At most 64 instances and elements.
std::optional<std::int64_t> least_cost(const Unrolled& nest, int capacity, OutputCost output,
                                       std::size_t most);

}  // namespace tcsim::test
