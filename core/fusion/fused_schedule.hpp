// In what order the statements of a chain run on tiles, and what is in memory meanwhile: the upper
// storey of a schedule. Below it, each statement runs on its tile by a Schedule of its own
// (core/schedule/schedule.hpp), as a contraction does: its groups and its three tensors are those
// of one statement, while the loops here are over indices that statements share. So the two are
// trees of different words, and the leaves of this one hold the other (docs/design.md, "Chains").
//
// Memory under a disk is an explicit level: nothing is evicted. Traffic is what the Holds move, and
// memory is what is held at the same time.
//
// Its text form, which parse_fused() reads back exactly:
//
//     for a by 16 {
//       hold T1 {                      a buffer in memory, for as long as the body lasts
//         seq {
//           for p by 50 {
//             load A {                 its current tile, from disk
//               load C4 { do T1 }      the statement that makes T1, on the current tile
//             }
//           }
//           store B { ... do B ... }   to disk at its end; before, what is there already
//         }
//       }
//     }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/fusion/operation_tree.hpp"
#include "core/schedule/box.hpp"

namespace tcsim::fusion {

struct FusedNode;

// for each tile of `tile` of an index's current range; the last one may be smaller
struct TileLoop {
  int index = 0;
  std::int64_t tile = 1;
  Box<FusedNode> body;
  bool operator==(const TileLoop&) const = default;
};

// one after another
struct InOrder {
  std::vector<FusedNode> parts;
  bool operator==(const InOrder&) const;
};

// The current tile of an array is in memory while the body runs. A buffer begins as zeros. What is
// stored begins as zeros where it was not stored yet, otherwise as what was stored.
struct Hold {
  enum class Kind { buffer, load, store };
  Kind kind = Kind::buffer;
  int array = 0;
  Box<FusedNode> body;
  bool operator==(const Hold&) const = default;
};

// One statement, on the current tile of all its indices.
struct Do {
  int statement = 0;
  bool operator==(const Do&) const = default;
};

struct FusedNode {
  FusedNode() = default;
  FusedNode(TileLoop loop) : is(std::move(loop)) {}
  FusedNode(InOrder parts) : is(std::move(parts)) {}
  FusedNode(Hold hold) : is(std::move(hold)) {}
  FusedNode(Do leaf) : is(leaf) {}
  bool operator==(const FusedNode&) const = default;

  std::variant<Do, TileLoop, InOrder, Hold> is;
};
inline bool InOrder::operator==(const InOrder& o) const { return parts == o.parts; }

const char* to_text(Hold::Kind);  // "hold", "load", "store"
// How the text calls an array: as its tensor, or "C:T1" for the C that the statement of T1 reads
// where several read it.
std::string hold_name(const OperationTree& tree, int array);
std::string to_text(const OperationTree& tree, const FusedNode& node);
// Throws InputError "place:line:column" with what was expected.
FusedNode parse_fused(std::string_view text, const OperationTree& tree, const std::string& place);

// Throws InputError(place, ...) unless the schedule computes the chain:
//  - every statement is done once, after those that make what it reads,
//  - the loops around it are over its own indices, of tiles from 1 to their current range,
//  - what it reads and writes is held around it, once: inputs are loaded, outputs stored;
//    intermediates are in a buffer around both statements, or stored by one and loaded by the other
//    afterwards. Nothing is held around none of the statements that it is held for.
void check(const OperationTree& tree, const FusedNode& node, const std::string& place);

// What moves between disk and memory, and how much memory it takes. Every number is exact.
struct DiskTraffic {
  struct OfArray {
    std::int64_t read = 0, written = 0;  // bytes
    std::int64_t reads = 0, writes = 0;  // transfers of a tile
    bool operator==(const OfArray&) const = default;
  };
  // Of a statement: on how many tiles it runs, and their bytes, what is written counting twice.
  struct OfStatement {
    std::int64_t runs = 0, passed = 0;
    bool operator==(const OfStatement&) const = default;
  };
  std::vector<OfArray> arrays;          // as the tree's
  std::vector<OfStatement> statements;  // as the tree's
  Bytes memory;                         // the most that is held at the same time

  OfArray sum() const;
  bool operator==(const DiskTraffic&) const = default;
};

// Buffers of a program that reads ahead and writes behind: those of what is loaded or stored are
// there twice.
enum class Buffering { single, twofold };
inline std::int64_t copies(const Hold& hold, Buffering buffering) {
  return buffering == Buffering::twofold && hold.kind != Hold::Kind::buffer ? 2 : 1;
}

// In closed form, from how many tiles of which size each index has. The schedule must have passed
// check(). Throws TooLargeError from 2^62 bytes in all.
DiskTraffic traffic(const OperationTree& tree, const FusedNode& node,
                    Buffering buffering = Buffering::single);

}  // namespace tcsim::fusion
