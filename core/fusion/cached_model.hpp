// What a chain inside caches moves: the window model (core/model/window.hpp) one storey up.
//
// Each leaf moves what it would move if everything it needs were already in every cache, and its
// first touches. A first touch of a line by a leaf follows the last one by an earlier leaf, if
// there is any:
//  - handed over: by an earlier part of a sequence, as T by the statement that makes it,
//  - carried: by the iteration before of the innermost loop that the line's array does not follow
//    and that is not in its first iteration. A hold's buffer follows no loop around the hold, and
//    packed operands, which have one place, follow none.
// The window between the two is what lies after the last touch in the earlier leaf (S), before the
// first touch in the later one (P), and all leaves in between, walked outward from both as within a
// leaf. At each cache the touch is a miss with the chance that the window does not fit
// (core/model/occupancy.hpp), and one inside it has missed before.
//
// It assumes:
//  - Windows are those of whole tiles: a smaller last one is taken for a whole one. What leaves
//    themselves move is counted for each size of tiles.
//  - A few places of each array stand for all of them, at the same place in both leaves.
//  - Two statements that read one input by different indices meet by chance.
//  - Tiles of a tensor fall on the sets as their real rows do; relative to other arrays, anyhow.
//  - An intermediate's line is written back once for each time that its tile is made, if it is
//    pushed out of the cache at any time before the next tile is made there; else at the end alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/fusion/cached.hpp"
#include "core/model/shared_counts.hpp"

namespace tcsim::fusion {

struct LeafModel;  // core/fusion/reuse_windows.hpp

// Of programs that take the same time, that is better which moves less: links count by this share
// of their time. Source: chosen.
inline constexpr double links_weight = 0.01;

class CachedModel {
 public:
  // Throws UnsupportedError for a machine that the window model does not cover.
  explicit CachedModel(LeafSchedules& schedules);
  ~CachedModel();

  LeafSchedules& schedules() { return schedules_; }

  // The schedule must have passed check_cached(). Chooses the leaves' schedules: of tiles of all
  // sizes, or of whole tiles, which then stand for the smaller ones as well. Throws TooLargeError;
  // heeds StopScope.
  enum class Tiles { all, whole };
  ChainTraffic traffic(const FusedNode& node, Tiles tiles = Tiles::all);

  // About the time, without choosing schedules: leaves move what the best tiles of each cache need,
  // and a cache holds what is no longer than itself. links_weight times that of all links is added.
  // For comparing many programs.
  double roughly(const FusedNode& node);

 private:
  const LeafModel& model_of(const Leaf& leaf);

  LeafSchedules& schedules_;
  SharedCounts counts_;
  std::map<Leaf, std::unique_ptr<LeafModel>> leaves_;
};

}  // namespace tcsim::fusion
