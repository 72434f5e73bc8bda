// What a schedule over explicit levels moves over each link, for all processes together and for the
// one that has the most, how much each level holds at most, and how long that takes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/levels/schedule.hpp"

namespace tcsim::levels {

// Bytes over a link and transfers of a tile, toward the inner level and away from it.
struct Moved {
  std::int64_t in = 0, out = 0;
  std::int64_t ins = 0, outs = 0;
  // Both ways: pieces of tiles that are neighbours on both sides, row-major; the outer side is the
  // tile there, or the whole array in the outermost level.
  std::int64_t rows = 0;

  std::int64_t bytes() const { return in + out; }
  std::int64_t transfers() const { return ins + outs; }
  Moved& operator+=(const Moved& o);
  bool operator==(const Moved&) const = default;
};

struct Counts {
  struct OfLink {
    std::vector<Moved> all;      // by array, of all instances of the inner level
    std::vector<Moved> busiest;  // of the instance that moves the most: the first one

    Moved sum() const;
    Moved busiest_sum() const;
    bool operator==(const OfLink&) const = default;
  };
  struct OfStatement {
    std::int64_t runs = 0;           // on tiles, of all processes
    std::int64_t multiply_adds = 0;  // of the process that has the most: the first one
    // Of that one, bytes of the tiles: of both operands, and of the result twice.
    std::int64_t tile_bytes = 0;
    bool operator==(const OfStatement&) const = default;
  };
  std::vector<OfLink> links;            // by the inner level
  std::vector<Bytes> high_water;        // of the fullest instance, by level but the outermost
  std::vector<OfStatement> statements;  // as the tree's

  bool operator==(const Counts&) const = default;
};

// In closed form, from how many tiles of which size each index has. Exact. Throws TooLargeError
// from 2^62 bytes or multiply-adds on.
Counts count(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node);
// What times() and fits() ask for alone, as a search does again and again: what the busiest process
// moves and computes, rows and tiles' bytes where they take time, and the high-water marks. The
// rest is 0. Throws TooLargeError where these are.
Counts count_for_time(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node);

// The same by doing it: each transfer counted one after another, for each process. Heeds StopScope.
// Throws TooLargeError.
Counts simulate(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node);

// The largest tile of each level, by statement, level (but the outermost) and index.
std::vector<std::vector<std::vector<std::int64_t>>> tiles_of(const OperationTree& tree,
                                                             const Hierarchy& hierarchy,
                                                             const Node& node);

// How many tiles and holds a simulation goes through, about.
double steps(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node);

// What transfers and arithmetic of the busiest process take.
struct LevelTimes {
  std::vector<Seconds> links;  // by the inner level
  Seconds arithmetic{0};
  // One after another, as multilevel-fusion-gpu charts it; where they overlap, the longest of them,
  // part by part of the chain.
  Seconds all{0};

  Seconds total() const { return all; }
  // The link that takes the longest; links.size() where arithmetic does.
  int bottleneck() const;
  LevelTimes& operator+=(const LevelTimes& o);
};
// Of one part of a chain.
LevelTimes times(const Hierarchy& hierarchy, const Counts& counts);

// Whether each level but the outermost has room for what it holds.
bool fits(const Hierarchy& hierarchy, const Counts& counts);

}  // namespace tcsim::levels
