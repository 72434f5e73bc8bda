// A schedule says in what order the iterations of a program's statements run and what is moved
// where. It is a tree, and everything else (model, simulator, executor, emitter) interprets that
// tree: none of them has a loop order of its own.
//
// The iteration space is seen through groups: all dimensions of a class (m, n, k, batch) fused
// into one index, the first dimension of the group running fastest.
//   Loop    runs over tiles of one group; what is inside sees the tile as the whole.
//   Seq     does its parts one after another. Over a group, each part covers a piece of the range;
//           otherwise each part has the whole of it, and holds other statements.
//   Move    copies a tensor's tile that is current there: a pack into a contiguous buffer in
//           caches, a load into a level that is addressed, a store back out of it. What is inside
//           finds the tile there.
//   Kernel  is the innermost, register-blocked step of one statement: mr x nr results over whatever
//           of k is current.
//
// A packed buffer is contiguous at every level: it is laid out by the loops inside its Move, outer
// loops first, down to micropanels of mr (or nr) rows that run along k (docs/design.md,
// "Packed layout"). Rows are padded with zeros to whole micropanels. Several places of the batch
// lie one behind the other.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/schedule/box.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Dimensions that are fused into one index, the fastest first.
using Group = std::vector<DimId>;
// By DimClass. m holds the rows of the microkernel: the dimensions that C shares with A, or with B
// (then B is the left operand).
using Groups = ByGroup<Group>;

struct Node;

// for each tile of `tile` elements of the group's current range; the last one may be smaller
struct Loop {
  DimClass group = DimClass::m;
  Elements tile;
  Box<Node> body;
  bool operator==(const Loop&) const = default;
};

// its parts one after another
struct Seq {
  std::optional<DimClass> over;  // none: every part has all of every range
  struct Part;
  std::vector<Part> parts;
  bool operator==(const Seq&) const;
};

// move the current tile of a tensor between memory and the named level, for as long as the body
// lasts
struct Move {
  enum class Kind { pack, load, store };
  Kind kind = Kind::pack;
  TensorId tensor = TensorId::A;
  std::string level;
  Box<Node> body;
  bool operator==(const Move&) const = default;
};

// out[mr x nr] += left[mr x kc] right[kc x nr] in registers, kc being the current range of k.
// Vectors run along the rows: each holds results of its own. `along_k`: they run along k, and each
// result is the sum of a vector's elements in the end (a dot product). For few rows, and operands
// whose places along k are neighbours: in place, or in a packed copy, whose micropanels then have
// one row.
struct Kernel {
  Elements mr, nr;
  int statement = 0;  // of the program
  bool along_k = false;
  bool operator==(const Kernel&) const = default;
};

struct Node {
  Node() = default;
  Node(Loop loop);
  Node(Seq seq);
  Node(Move move);
  Node(Kernel kernel);
  // Not inline: GCC 12 takes what they do to the other alternatives for uses of nothing.
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();
  bool operator==(const Node&) const = default;

  std::variant<Loop, Seq, Move, Kernel> is;
};

struct Seq::Part {
  Elements size;  // of the range that the parts share; 0 without one
  Node node;
  bool operator==(const Part&) const = default;
};
inline bool Seq::operator==(const Seq& o) const { return over == o.over && parts == o.parts; }

struct Schedule {
  Groups groups;
  Node root;
  // The group that several threads divide, each packing for itself: m, n or batch, of which one is
  // chosen where none is said, or k, in pieces on one thread, too (core/plan/parts.hpp).
  std::optional<DimClass> parallel = {};

  bool operator==(const Schedule&) const = default;
};

// Tensors and buffers that a path has at most: three tensors, and a buffer for each move.
inline constexpr std::size_t max_arrays = 16;

const char* to_text(Move::Kind);            // "pack", "load", "store"
std::string to_text(const Kernel& kernel);  // "kernel 24x8", "kernel 2x7 along k"

// The schedule's text, which parse_schedule reads back exactly. Dimensions and tensors are called
// as the contraction does:
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
// Behind the groups it may say which of them threads divide: "groups m=ab n=cd k=fe parallel n".
//
// Two kernels cover a range one after the other, as 34 = 2 x 11 + 12:
//
//     seq over n {                       parts of n's range
//       part 22 { for n by 11 { kernel 32x11 } }
//       part 12 { kernel 32x12 }
//     }
//
// Vectors may run along k, where an operand stays in place or the kernel has one row of it:
//
//     kernel 2x7 along k
//
// The rest of the grammar, which no interpreter does yet (only_path()):
//
//     seq {                              parts for other statements
//       part { kernel 24x8 }
//       part { kernel 24x8 of 1 }        statement 1, counted from 0
//     }
//     load A in scratchpad { ... }  store C in scratchpad { ... }
//
// White space and line breaks are free, and "#" begins a comment.
std::string to_text(const Schedule& schedule, const Contraction& contraction);

// The same on one line.
std::string to_line(const Schedule& schedule, const Contraction& contraction);

// Throws InputError "place:line:column" with what was expected.
Schedule parse_schedule(std::string_view text, const Contraction& contraction,
                        const std::string& place);

// Throws InputError(place, ...) unless the schedule computes exactly this contraction:
//  - the groups hold each dimension once and agree with the classes (m and n may be exchanged),
//  - every path ends in a kernel of a statement that there is; a tile is at least 1 and not larger
//    than the tile of the same group outside it; batch runs by 1 in the end,
//  - the parts of a Seq over a group (m, n or k) are at least 1 each and together its range; a Seq
//    over none does each statement once,
//  - the kernel's m and n ranges are at most mr and nr (the loops cover every dimension),
//  - a kernel along k has no batch in group m, and one row of an operand that is packed around it,
//  - A and B are packed at most once on a path, and below the pack of a tensor the tiles and parts
//    of its rows are whole numbers of micropanels,
//  - threads divide m, n or batch, not the sums of k,
//  - an input is not stored,
//  - a path has at most max_arrays - 3 moves,
//  - the levels of nested moves do not grow inward, and are named in `levels` (innermost first).
void check(const Schedule& schedule, const Contraction& contraction,
           const std::vector<std::string>& levels, const std::string& place);

// Whether check() passes, whatever the levels are called: for assertions.
bool is_legal(const Schedule& schedule, const Contraction& contraction);

}  // namespace tcsim
