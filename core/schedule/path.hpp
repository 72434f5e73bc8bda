// The paths of a schedule: what stands between its root and one kernel, as a flat list, with the
// extents that it runs over. Interpreters see one path at a time. They do one kind so far, the
// only path of a schedule whose moves are packs (only_path()). A Plan adds addresses to it.
#pragma once

#include <array>
#include <cstdint>
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
  DimClass group = DimClass::m;         // of a loop, and of a part of a range
  std::int64_t tile = 0;                // of a loop; of a part its size
  std::int64_t begin = 0;               // of a part, within the range
  Move::Kind moves = Move::Kind::pack;  // of a move
  TensorId tensor = TensorId::A;        // of a move
  std::string level;                    // of a move
};

struct Path {
  TensorId right() const { return left == TensorId::A ? TensorId::B : TensorId::A; }

  std::vector<Step> steps;      // outermost first, the kernel last
  std::int64_t mr = 1, nr = 1;  // of the kernel
  int statement = 0;            // of the kernel
  TensorId left = TensorId::A;  // the operand that has group m
  ByGroup<std::int64_t> extents{1, 1, 1, 1};
};

// One path to each kernel, in the order in which they run. `schedule` must have passed check() for
// this contraction.
std::vector<Path> paths_of(const Contraction& contraction, const Schedule& schedule);

// The path of a schedule that has one, and no other moves than packs. `schedule` must have passed
// check(). Throws UnsupportedError, which says what else it has: those are not done yet.
Path only_path(const Contraction& contraction, const Schedule& schedule);

// Whether tensor t is indexed by `group` when `left` is the operand that has group m.
bool has_group(TensorId t, TensorId left, DimClass group);

// The tree of a path: loops and moves with empty bodies, outermost first, around the kernel.
Node nested(std::vector<Node> steps, Kernel kernel);

// The kernels of a tree, in the order in which they run.
std::vector<Kernel> kernels_of(const Node& root);

// The operand that has the dimensions of group m, given the groups of a schedule: A, or B where
// they are exchanged (group m then holds dimensions that C shares with B).
TensorId left_operand(const Contraction& contraction, const Groups& groups);

// Elements of a group's fused index, 1 where it is empty.
std::int64_t extent_of(const Contraction& contraction, const Group& group);

}  // namespace tcsim
