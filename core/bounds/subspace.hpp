// Subspaces of Q^d, exactly: what the rank conditions of the Brascamp-Lieb inequality are about.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/bounds/expression.hpp"

namespace tcsim::bounds {

using Matrix = std::vector<std::vector<Rational>>;  // rows

class Subspace {
 public:
  // Spanned by the rows, which have d numbers each.
  Subspace(std::size_t d, Matrix rows);
  static Subspace whole(std::size_t d);
  // All x with map x = 0.
  static Subspace kernel(std::size_t d, const Matrix& map);

  std::size_t dimension() const { return rows_.size(); }
  // Of what the map makes of it.
  std::size_t rank_of_image(const Matrix& map) const;

  friend Subspace sum(const Subspace& a, const Subspace& b);
  friend Subspace intersection(const Subspace& a, const Subspace& b);
  // The reduced rows are the same exactly for the same subspace.
  friend bool operator==(const Subspace&, const Subspace&) = default;

 private:
  std::size_t d_;
  Matrix rows_;  // reduced: each leads with a 1, which is the only number of its column
};

// The given subspaces and all their sums and intersections, or nothing if these are more than
// `most`: four subspaces may have infinitely many.
std::optional<std::vector<Subspace>> lattice(std::vector<Subspace> generators, std::size_t most);

}  // namespace tcsim::bounds
