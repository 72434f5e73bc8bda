// In what order a chain's statements run on tiles where there are several explicit levels, and what
// each level holds meanwhile. It is the upper storey of a schedule (core/fusion/fused_schedule.hpp)
// with a level at each hold: the data of a level come from the next one outside it, and go there.
//
//     for h1 by 10 {                      tiles of the whole, for the level that the loop is of
//       load A to global {                its current tile, from disk
//         hold C in global {              a buffer, for as long as the body lasts
//           for h1 by 1 over 8 {          tiles dealt in turn to 8 processes
//             load A to local { ... do C ... }
//           }
//         }
//       }
//     }
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/operation_tree.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/schedule/box.hpp"

namespace tcsim::levels {

using fusion::IndexSet;
using fusion::OperationTree;
using Kind = fusion::Hold::Kind;

struct Node;

// for each tile of an index's current range; the last one may be smaller. With `processes` above 1
// tile i is done by process i mod processes, of those that share the level outside `level`.
struct Loop {
  int index = 0;
  std::int64_t tile = 1;
  int level = 0;  // whose tiles they are
  std::int64_t processes = 1;
  Box<Node> body;
  bool operator==(const Loop&) const = default;
};

// one after another
struct Sequence {
  std::vector<Node> parts;
  bool operator==(const Sequence&) const;
};

// The current tile of an array is in the level while the body runs. What is loaded comes from the
// next level outside. What is stored goes there at the end; it begins as zeros the first time, and
// as what is there afterwards. Where processes share the summation of a tile, each adds to what is
// there. Where they share loops inside the hold, each that has a tile of them holds it, and moves
// it.
struct Hold {
  Kind kind = Kind::buffer;
  int array = 0;
  int level = 0;
  Box<Node> body;
  bool operator==(const Hold&) const = default;
};

// One statement, on the current tile of all its indices.
struct Do {
  int statement = 0;
  bool operator==(const Do&) const = default;
};

struct Node {
  Node() = default;
  Node(Loop loop) : is(std::move(loop)) {}
  Node(Sequence parts) : is(std::move(parts)) {}
  Node(Hold hold) : is(std::move(hold)) {}
  Node(Do leaf) : is(leaf) {}
  bool operator==(const Node&) const = default;

  std::variant<Do, Loop, Sequence, Hold> is;
};
inline bool Sequence::operator==(const Sequence& o) const { return parts == o.parts; }

// Loops of the level inside a hold's body that processes share, the outermost first.
std::vector<const Loop*> shared_inside(const Hierarchy& hierarchy, const Hold& hold);

// For people; a loop's level is that of the holds in it.
std::string to_text(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node);

}  // namespace tcsim::levels
