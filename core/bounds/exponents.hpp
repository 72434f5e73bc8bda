// Exponents of the Brascamp-Lieb inequality for a statement: for every finite set E of its runs
//
//     |E| <= product over accesses j of |elements of j that E touches|^s_j
//            x product over dimensions d of |places along d that E has|^s_d
//
// holds if every s is between 0 and 1 and, for every subspace V of Q^d,
//
//     dim V <= sum over j of s_j rank of (access j on V) + sum over d of s_d (V moves along d).
//
// (Christ, Demmel, Knight, Scanlon, Yelick, arXiv 1510.04190; IOOpt, Theorem 5.1 and section 5.2,
// where one homomorphism for all small dimensions stands for the sum over d: a factor for each of
// them is at least as good.) It is enough to look at the whole space and the lattice that the
// kernels generate (docs/bounds.md has a proof).
#pragma once

#include <optional>
#include <vector>

#include "core/bounds/linear_program.hpp"
#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

struct Exponents {
  std::vector<Rational> access;  // for each of accesses_of(statement)
  std::vector<Rational> dim;     // for each of dims_of(statement)
  bool operator==(const Exponents&) const = default;
};

// All exponents of a statement with which the inequality holds.
class ExponentSet {
 public:
  // Of a statement with four reads or more the lattice may be infinite; then the set is empty and
  // nothing is proven with it. So it is with the dimensions of an index of three or more, whose
  // exponents are then 0.
  explicit ExponentSet(const Problem::Statement& statement);

  // The exponents with the least costs; those of dimensions that are not `small` are 0. Nothing if
  // there are none.
  std::optional<Exponents> least(const std::vector<Rational>& access_costs,
                                 const std::vector<Rational>& dim_costs,
                                 const std::vector<bool>& small) const;
  // Those among them whose sum over accesses is `sum`.
  std::optional<Exponents> least(const std::vector<Rational>& access_costs,
                                 const std::vector<Rational>& dim_costs,
                                 const std::vector<bool>& small, const Rational& sum) const;

  bool contains(const Exponents& exponents) const;

 private:
  std::optional<Exponents> least(const std::vector<Rational>& access_costs,
                                 const std::vector<Rational>& dim_costs,
                                 const std::vector<bool>& small, const Rational* sum) const;

  std::size_t accesses_, dims_;
  bool known_ = true;
  std::vector<LinearProgram::Row> rows_;  // of accesses, then dimensions
};

}  // namespace tcsim::bounds
