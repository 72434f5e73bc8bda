// What the theory of bounds reads of a program: statements over named dimensions, and the elements
// that each of their instances touches (Olivry et al., IOOpt, section 3). No memory orders, no
// machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/bounds/expression.hpp"
#include "core/workload/program.hpp"

namespace tcsim::bounds {

// Every statement runs once for each point of the box of its dimensions, in any order; each run
// adds to one element what the elements that it reads give. Where the dimensions of the written
// access do not tell runs apart, they are a reduction.
struct Problem {
  struct Dim {
    std::string name;                    // an identifier
    std::string symbol;                  // its extent in expressions, such as "N_i"
    std::optional<std::int64_t> extent;  // at least 1, where it is known
    // Known to be much smaller than the fast memory (section 5.2). Bounds hold without it.
    bool small = false;
    bool operator==(const Dim&) const = default;
  };

  struct Array {
    std::string name;
    // Its elements begin as zeros, which are made in the fast memory; they are not loaded.
    bool starts_at_zero = false;
    bool operator==(const Array&) const = default;
  };

  struct Access {
    int array = 0;             // index into arrays
    std::vector<Affine> axes;  // DimId is an index into dims
    bool operator==(const Access&) const = default;
  };

  struct Statement {
    Access out;
    std::vector<Access> in;
    bool operator==(const Statement&) const = default;
  };

  std::string name;
  std::vector<Dim> dims;
  std::vector<Array> arrays;
  std::vector<Statement> statements;  // at least one

  const Dim& dim(DimId d) const { return dims[static_cast<std::size_t>(index(d))]; }
  bool operator==(const Problem&) const = default;
};

// The fast memory's capacity in elements, in expressions.
inline constexpr const char* capacity_symbol = "S";

// All statements, or one with the dimensions and arrays that it has. An extent is N_ and the
// dimension's name. Intermediates start at zero.
Problem problem_of(const Program& program);
Problem problem_of(const Program& program, std::size_t statement);
// One of the statements, with the dimensions and arrays that it has, in their order.
Problem problem_of(const Problem& problem, std::size_t statement);

// The accesses of a statement: what it writes, then what it reads.
std::vector<Problem::Access> accesses_of(const Problem::Statement& statement);
// The dimensions in an access, or in any of a statement's, each once, in their order.
std::vector<DimId> dims_of(const Problem::Access& access);
std::vector<DimId> dims_of(const Problem::Statement& statement);
// Those of the statement that the written access does not have.
std::vector<DimId> reductions_of(const Problem::Statement& statement);

// Dimensions that are always together are as one: indices alone, of the same of the accesses, whose
// indices these are. Places in `dims`, all of them, in their order; dimensions that are not among
// them do not count in an index.
std::vector<std::vector<std::size_t>> always_together(
    const std::vector<std::vector<Affine>>& accesses, const std::vector<DimId>& dims);
// Places in dims_of().
std::vector<std::vector<std::size_t>> always_together(const Problem::Statement& statement);

// The symbols of the extents that are known.
Values sizes_of(const Problem& problem);
// How often a statement runs: the product of the extents, N_i N_j N_k.
Expression runs_of(const Problem& problem, const Problem::Statement& statement);

}  // namespace tcsim::bounds
