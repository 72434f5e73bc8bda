// A chain as its operation tree (Gao et al., "Efficient search-space pruning for integrated fusion
// and tiling", section 2): contractions whose intermediates have one producer and one consumer. It
// is a view of a Program, as a Contraction is.
//
// What loops can be fused over is an Index: a dimension of the producer and the dimension of the
// consumer that stand at the same axis of an intermediate are one index, whatever the program calls
// them, and two dimensions of one name that no intermediate joins are two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units/quantity.hpp"
#include "core/workload/contraction.hpp"
#include "core/workload/program.hpp"

namespace tcsim::fusion {

// Places in OperationTree::indices, ascending, each once.
using IndexSet = std::vector<int>;
IndexSet common(const IndexSet& a, const IndexSet& b);
IndexSet without(const IndexSet& a, const IndexSet& b);
IndexSet joined(const IndexSet& a, const IndexSet& b);
bool contains(const IndexSet& set, int index);

struct OperationTree {
  struct Index {
    std::string name;
    std::int64_t extent = 1;
  };

  // One use of a tensor. A tensor that several statements read has one for each.
  struct Array {
    std::string name;          // the tensor's
    std::vector<int> indices;  // by axis, each once
    Program::Role role = Program::Role::input;
    Bytes element{8};
    int producer = -1;  // a statement; -1 of an input
    int consumer = -1;  // a statement; -1 of an output

    IndexSet set() const;
    bool is_intermediate() const { return producer >= 0 && consumer >= 0; }
  };

  // out += left * right
  struct Statement {
    int out = 0, left = 0, right = 0;  // arrays
    IndexSet indices;                  // of all its loops
  };

  std::string name;
  std::vector<Index> indices;
  std::vector<Array> arrays;
  std::vector<Statement> statements;  // a producer stands before its consumer

  const Array& array(int a) const { return arrays[static_cast<std::size_t>(a)]; }
  const Statement& statement(int s) const { return statements[static_cast<std::size_t>(s)]; }
  std::int64_t extent(int index) const { return indices[static_cast<std::size_t>(index)].extent; }
  // The statement that reads what this one makes; -1 where it makes an output.
  int parent(int statement) const { return array(this->statement(statement).out).consumer; }
  // Those that make what it reads: none, one or two.
  std::vector<int> children(int statement) const;
  std::vector<int> roots() const;
  // Of the whole array, of all of a statement's multiply-adds (2 each), and of all statements'.
  double bytes(int array) const;
  double flops(int statement) const;
  double flops() const;

  // Of the whole array, by axis.
  std::vector<std::int64_t> extents(int array) const;

  // "T1[a,q,r,s]"
  std::string text(int array) const;
  // "T1[a,q,r,s] += C1[p,a] * A[p,q,r,s]"
  std::string statement_text(int statement) const;
};

// Throws UnsupportedError where the program is no tree of contractions that tcsim can fuse: a
// statement that reads one tensor, an index that is a sum or of another length than its axis, a
// dimension in one tensor of its statement alone, an output that two statements write, more than
// 256 indices.
OperationTree operation_tree(const Program& program);

// A statement on a tile, its tensors row-major and as large as the tile: what runs in memory.
// `tile` has an extent for each of the statement's indices, in their order. Throws UnsupportedError
// for more than 52 indices.
Contraction contraction_of(const OperationTree& tree, int statement,
                           const std::vector<std::int64_t>& tile);

}  // namespace tcsim::fusion
