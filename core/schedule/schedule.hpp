// A schedule says in what order a contraction's iterations run and what is copied where. It is a
// tree, and everything else (model, simulator, executor, emitter) interprets that tree: none of
// them has a loop order of its own.
//
// The iteration space is seen through groups: all dimensions of a class (m, n, k, batch) fused
// into one index, the first dimension of the group running fastest. A Loop runs over tiles of one
// group, and what is inside it sees the tile as the whole. A Pack copies the operand's tile that
// is current at that place into a contiguous buffer, and what is inside reads the buffer. A Kernel
// is the innermost, register-blocked step: mr x nr results over whatever of k is current.
//
// A packed buffer is contiguous at every level: it is laid out by the loops inside its Pack, outer
// loops first, down to micropanels of mr (or nr) rows that run along k (docs/design.md,
// "Packed layout"). Rows are padded with zeros to whole micropanels.
#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "core/workload/contraction.hpp"

namespace tcsim {

struct Node;

// for each tile of `tile` elements of the group's current range; the last one may be smaller
struct Loop {
  DimClass group = DimClass::m;
  Elements tile;
  std::vector<Node> body;
  bool operator==(const Loop&) const;
};

// copy the current tile of A or B into a buffer meant to stay in the named level
struct Pack {
  TensorId tensor = TensorId::A;
  std::string level;
  std::vector<Node> body;
  bool operator==(const Pack&) const;
};

// C[mr x nr] += A[mr x kc] B[kc x nr] in registers, kc being the current range of k
struct Kernel {
  Elements mr, nr;
  bool operator==(const Kernel&) const = default;
};

// A body holds children that run one after another; so far every body has exactly one.
struct Node {
  std::variant<Loop, Pack, Kernel> is;
  bool operator==(const Node&) const = default;
};

inline bool Loop::operator==(const Loop& o) const {
  return group == o.group && tile == o.tile && body == o.body;
}
inline bool Pack::operator==(const Pack& o) const {
  return tensor == o.tensor && level == o.level && body == o.body;
}

struct Schedule {
  // Dimensions of each group (by name), the fastest first; indexed by DimClass. m holds the rows of
  // the microkernel: the dimensions that C shares with A, or with B (then B is the left operand).
  std::array<std::string, 4> groups;
  Node root;

  bool operator==(const Schedule&) const = default;
};

// The schedule's text, which parse_schedule reads back exactly:
//
//     groups m=ab n=cd k=fe
//     for n by 2592 {
//       for k by 432 {
//         pack B in L3 {
//           for m by 288 {
//             pack A in L2 {
//               for n by 8 {
//                 for m by 24 {
//                   kernel 24x8
//                 }
//               }
//             }
//           }
//         }
//       }
//     }
//
// White space and line breaks are free, and "#" begins a comment.
std::string to_text(const Schedule& schedule);

// The same on one line.
std::string to_line(const Schedule& schedule);

// Throws InputError "place:line:column" with what was expected.
Schedule parse_schedule(std::string_view text, const std::string& place);

// Throws InputError(place, ...) unless the schedule computes exactly this contraction:
//  - the groups hold each dimension once and agree with the classes (m and n may be exchanged),
//  - every path ends in a kernel; a tile is at least 1 and not larger than the tile of the same
//    group outside it; batch runs by 1, outside everything else,
//  - the kernel's m and n ranges are at most mr and nr (the loops cover every dimension),
//  - A and B are packed at most once on a path, and below the Pack of a tensor the tiles of its
//    rows are whole numbers of micropanels,
//  - the levels of nested packs do not grow inward, and are named in `levels` (innermost first).
void check(const Schedule& schedule, const Contraction& contraction,
           const std::vector<std::string>& levels, const std::string& place);

}  // namespace tcsim
