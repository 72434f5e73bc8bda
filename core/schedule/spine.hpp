// The spine of a schedule: its loops, packs and kernel as a flat list, with the extents they run
// over. It is what the model needs of a schedule; a Plan adds addresses.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

constexpr std::size_t at(DimClass c) { return static_cast<std::size_t>(index(c)); }

// One step of the tree's spine.
struct Step {
  enum class Kind { loop, pack, kernel };
  Kind kind = Kind::loop;
  DimClass group = DimClass::m;   // of a loop
  std::int64_t tile = 0;          // of a loop
  TensorId tensor = TensorId::A;  // of a pack
  std::string level;              // of a pack
};

struct Spine {
  // `schedule` must have passed check() for this contraction.
  Spine(const Contraction& contraction, const Schedule& schedule);

  TensorId right() const { return left == TensorId::A ? TensorId::B : TensorId::A; }

  std::vector<Step> steps;                          // outermost first, the kernel last
  std::int64_t mr = 1, nr = 1;                      // of the kernel
  TensorId left;                                    // the operand that has group m
  std::array<std::int64_t, 4> extents{1, 1, 1, 1};  // by DimClass
};

// Whether tensor t is indexed by `group` when `left` is the operand that has group m.
bool has_group(TensorId t, TensorId left, DimClass group);

// The tree of a spine: loops and packs with empty bodies, outermost first, around the kernel.
Node nested(std::vector<Node> spine, Kernel kernel);

// The kernel at the end of the spine. Every body of the schedule holds one statement.
Kernel kernel_of(const Schedule& schedule);

// The operand that has the dimensions of group m, given the groups of a schedule: A, or B where
// they are exchanged (group m then holds dimensions that C shares with B).
TensorId left_operand(const Contraction& contraction, const std::array<std::string, 4>& groups);

// The dimension of that name, which must exist.
DimId dim_named(const Contraction& contraction, char name);

}  // namespace tcsim
