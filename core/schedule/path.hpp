// The paths of a schedule: what stands between its root and one kernel, as a flat list, with the
// extents that it runs over. Interpreters see one path at a time. They do one kind so far, the
// only path of a schedule whose moves are packs (only_path()). A Plan adds addresses to it.
//
// Two kernels that cover a range one after the other are one path too, since they differ in the
// tile alone: `seq over n { part 22 { for n by 11 {...} } part 12 {...} }` is a loop over n whose
// first 22 elements run in tiles of 11 (ttile's composition, its lambda).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

constexpr std::size_t at(DimClass c) { return static_cast<std::size_t>(index(c)); }

// One step on the way to a kernel.
struct Step {
  enum class Kind { loop, part, move, kernel };
  Kind kind = Kind::loop;
  DimClass group = DimClass::m;  // of a loop, and of a part of a range
  std::int64_t tile = 0;         // of a loop; of a part its size
  // Of a loop of two tile sizes: its first `head` elements run in tiles of `head_tile`, those
  // behind them in tiles of `tile`. 0 and 0 for others.
  std::int64_t head = 0, head_tile = 0;
  std::int64_t begin = 0;               // of a part, within the range
  Move::Kind moves = Move::Kind::pack;  // of a move
  TensorId tensor = TensorId::A;        // of a move
  std::string level;                    // of a move

  bool operator==(const Step&) const = default;

  // Of a loop over a range of `size` elements: of the tile that begins at element i, how many tiles
  // there are, and how large they are on average; the largest there may be.
  std::int64_t tile_at(std::int64_t i, std::int64_t size) const {
    return i < head ? std::min({head_tile, head - i, size - i}) : std::min(tile, size - i);
  }
  // Calls f(tile, times) for each size of tiles, and how many there are of it. A size may come
  // twice.
  template <class F>
  void for_each_size(std::int64_t size, F&& f) const;
  std::int64_t iterations(std::int64_t size) const;
  double mean_tile(double size) const;
  std::int64_t largest_tile() const { return std::max(tile, head_tile); }
};

template <class F>
void Step::for_each_size(std::int64_t size, F&& f) const {
  const auto cut = [&](std::int64_t part, std::int64_t by) {
    if (part >= by) f(by, part / by);
    if (part % by != 0) f(part % by, std::int64_t{1});
  };
  const std::int64_t first = std::min(head, size);
  if (first > 0) cut(first, head_tile);
  cut(size - first, tile);
}

// Whether group m holds batch dimensions: each lane of a vector is then a multiplication of its
// own, and both operands have group m.
bool holds_lanes(const Contraction& contraction, const Groups& groups);

// Whether group batch, beside lanes, holds what C shares with the left operand alone: then the
// right one has not that group.
bool holds_rows(const Contraction& contraction, const Groups& groups);

// The operand that has the dimensions of group m, given the groups of a schedule: A, or B where
// they are exchanged (group m then holds dimensions that C shares with B). Of lanes, which both
// have, the one that has not group n, or has rows of its own (holds_rows()); where neither has, A,
// unless its lanes alone are neighbours.
TensorId left_operand(const Contraction& contraction, const Groups& groups);

// Whether tensor t is indexed by `group` of a schedule's groups.
bool follows(const Contraction& contraction, const Groups& groups, TensorId t, DimClass group);

struct Path {
  TensorId right() const { return left == TensorId::A ? TensorId::B : TensorId::A; }
  // Whether tensor t is indexed by the group.
  bool follows(TensorId t, DimClass group) const;
  // The group that runs across an operand's micropanels, m or n, and how many rows those have. Of
  // lanes both have group m.
  DimClass rows_of(TensorId t) const { return t == left || lanes ? DimClass::m : DimClass::n; }
  std::int64_t panel_of(TensorId t) const { return rows_of(t) == DimClass::m ? mr : nr; }
  Kernel kernel() const { return {Elements(mr), Elements(nr), statement, along_k}; }

  std::vector<Step> steps;      // outermost first, the kernel last
  std::int64_t mr = 1, nr = 1;  // of the kernel
  int statement = 0;            // of the kernel
  TensorId left = TensorId::A;  // the operand that has group m
  bool along_k = false;         // Kernel::along_k
  bool lanes = false;           // holds_lanes()
  bool rows = false;            // holds_rows()
  ByGroup<std::int64_t> extents{1, 1, 1, 1};
};

// One path to each kernel, in the order in which they run. `schedule` must have passed check() for
// this contraction.
std::vector<Path> paths_of(const Contraction& contraction, const Schedule& schedule);

// The path of a schedule that has one, and no other moves than packs. Two parts of a range are one
// path if they differ in a loop over that range and the kernel's side alone, hold no move, and no
// pack around them holds that range. `schedule` must have passed check(). Throws UnsupportedError,
// which says what else it has: those are not done yet.
Path only_path(const Contraction& contraction, const Schedule& schedule);

// Whether kernels are products without sums, a column each: the executor then writes whole lines of
// C, however many rows a kernel has.
bool writes_lines(const Path& path);

// Depth in Path::steps of the first loop of the kernel blocks: the loops over m and n that stand
// around the kernel, one of each at most. Of the kernel where there is none. Only that loop may
// have tiles of two sizes.
std::size_t block_depth(const Path& path);

// The tree of a path: loops and moves with empty bodies, outermost first, around what is inside.
Node nested(std::vector<Node> steps, Node inside);

// The kernels of a tree, in the order in which they run.
std::vector<Kernel> kernels_of(const Node& root);

// Whether loops cut the places of a group, `extent` of them, such that no kernel goes over the end
// of a row of so many.
bool keep_to_rows(const std::vector<Step>& steps, DimClass group, std::int64_t extent,
                  std::int64_t row);

// Elements of a group's fused index, 1 where it is empty.
std::int64_t extent_of(const Contraction& contraction, const Group& group);
// How many places of a group are neighbours in each of the tensors, from its first one on.
std::int64_t neighbours_in(const Contraction& contraction, std::initializer_list<TensorId> tensors,
                           const Group& group);

}  // namespace tcsim
