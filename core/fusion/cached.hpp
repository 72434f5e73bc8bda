// Chains inside caches: all tensors lie in memory, and what one statement makes may still be in a
// cache when the next one reads it (docs/fusion.md, "Chains inside caches").
//
// The words are those of fused_schedule.hpp without load and store, as there is nothing to move:
//
//     for i by 64 {
//       hold T {           a dense buffer for the current tile of T, at one address all the time
//         seq {
//           do T           a statement on the current tile, by a Schedule of its own
//           do C
//         }
//       }
//     }
//
// Inputs and outputs lie in memory as a whole; a leaf reads and writes its tile where it is. An
// intermediate is in its hold. Around everything a hold is the whole intermediate: a chain that is
// not fused is a hold around everything for each, and the statements one after another inside.
// The first leaf that comes to a tile of its result overwrites it, later ones add.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/leaf.hpp"
#include "core/fusion/walk.hpp"
#include "core/machine/machine.hpp"
#include "core/model/traffic.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::fusion {

// Throws InputError(place, ...) unless the schedule computes the chain without load and store: as
// check(), with every intermediate in a hold around its two statements, and no other hold.
void check_cached(const OperationTree& tree, const FusedNode& node, const std::string& place);

// Each statement once, as a whole, in program order.
FusedNode unfused(const OperationTree& tree);

// Calls f(const LeafCall&) for each leaf, in order. The schedule must have passed check_cached().
// Heeds StopScope.
template <class F>
void for_each_call(const OperationTree& tree, const FusedNode& node, F&& f);

// Calls f(const Leaf&) for each leaf that differs, in the order in which they come first.
template <class F>
void for_each_leaf(const OperationTree& tree, const FusedNode& node, F&& f) {
  std::set<Leaf> seen;
  for_each_call(tree, node, [&](const LeafCall& call) {
    if (seen.insert(call.leaf).second) f(call.leaf);
  });
}

// Chooses the schedules of leaves, each once: the optimizer's for that tile on one core, without
// looking hard.
class LeafSchedules {
 public:
  LeafSchedules(const OperationTree& tree, const Machine& machine);

  struct Chosen {
    Contraction contraction;
    Schedule schedule;
  };
  // Stays where it is. Throws as optimize() does; heeds StopScope.
  const Chosen& of(const Leaf& leaf);

  const OperationTree& tree() const { return tree_; }
  const Machine& machine() const { return machine_; }  // of one core

 private:
  const OperationTree& tree_;
  Machine machine_;
  std::map<Leaf, Chosen> chosen_;
};

// Where everything lies: the packed operands of all leaves in one place, as one runs at a time,
// then the holds, then inputs and outputs. Each begins at a multiple of a page.
class MemoryMap {
 public:
  // Throws UnsupportedError for more than 15 tensors, or 2^47 bytes in all.
  MemoryMap(const FusedNode& node, LeafSchedules& schedules);

  struct Array {
    std::string name;  // a tensor's, or "packed"
    Bytes base, size;
    bool buffer = false;  // packed operands, or a hold
  };
  const std::vector<Array>& arrays() const { return arrays_; }  // the packed operands are the last
  int packed() const { return static_cast<int>(arrays_.size()) - 1; }
  // The row of an array of the tree. An input that several statements read has one.
  int of(int array) const { return of_[static_cast<std::size_t>(array)]; }
  // The statement that writes a row; -1 of inputs and packed operands.
  int writer(int row) const { return writers_[static_cast<std::size_t>(row)]; }
  Bytes size() const { return size_; }

 private:
  std::vector<Array> arrays_;
  std::vector<int> of_, writers_;
  Bytes size_;
};

// Rows as in a MemoryMap: tensors by name in the order of the tree's arrays, then "packed".
std::vector<std::string> memory_rows(const OperationTree& tree);

// Data moved over every link by every statement, in all its calls together, by row of a MemoryMap.
// What comes in counts for the statement that is running then. What is written back counts for the
// one that wrote it, whenever that happens, as it does of a single contraction, whose last lines
// are written back at the end. Packed operands of all statements have one place: what is written
// back of it is shared out by what each packs.
struct ChainTraffic {
  ChainTraffic() = default;
  ChainTraffic(const OperationTree& tree, const Machine& machine);

  std::vector<std::string> arrays;
  // By statement, link (as in Traffic) and array.
  std::vector<std::vector<std::vector<Moved>>> moved;

  Moved& at(int statement, int link, int array);
  const Moved& at(int statement, int link, int array) const;
  Moved of_array(int link, int array) const;  // all statements
  void share_out_packed();
  // What counts of a statement's traffic over a link, and of all.
  Bytes counted(const Accounting& accounting, int statement, int link) const;
  Bytes counted(const Accounting& accounting, int link) const;
  bool operator==(const ChainTraffic&) const = default;
};

// The time of each statement is that of the slowest link, or of its arithmetic, as of a single
// contraction (core/model/traffic.hpp); statements follow one another. Throws UnsupportedError for
// an accounting that leaves packing out.
struct ChainTiming {
  std::vector<Timing> statements;
  Seconds total;
};
// `slower`: how much longer links take than their bytes and bandwidths say, but for that to the
// registers, whose bytes are exact.
ChainTiming timing(const ChainTraffic& traffic, const OperationTree& tree, const Machine& machine,
                   double slower = 1);

namespace detail {

template <class F>
struct CallVisitor {
  const OperationTree& tree;
  F& f;
  std::vector<Ranges> held;  // by array: what its hold has

  void open(const Hold& hold, const Ranges& ranges) {
    held[static_cast<std::size_t>(hold.array)] = ranges;
  }
  void close(const Hold& hold, const Ranges&) {
    held[static_cast<std::size_t>(hold.array)].clear();
  }
  void run(int s, const Ranges& ranges) {
    const LeafCall call = leaf_at(tree, s, ranges, held);
    f(call);
  }
};

}  // namespace detail

template <class F>
void for_each_call(const OperationTree& tree, const FusedNode& node, F&& f) {
  detail::CallVisitor<F> visitor{tree, f, std::vector<Ranges>(tree.arrays.size())};
  Ranges ranges = all_of(tree);
  walk(node, ranges, visitor);
}

}  // namespace tcsim::fusion
