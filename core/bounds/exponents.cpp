#include "core/bounds/exponents.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/bounds/subspace.hpp"

namespace tcsim::bounds {
namespace {

// Three subspaces have at most 28; what strides and sums add stays far below.
constexpr std::size_t most_subspaces = 200;

// Dimensions that an index sums depend on each other; all others are apart. A kernel is the sum of
// its parts in these blocks, and so are the subspaces of the lattice, so the conditions of the
// blocks imply those of all.
std::vector<std::vector<std::size_t>> blocks_of(const std::vector<Problem::Access>& accesses,
                                                const std::vector<DimId>& dims) {
  const auto place = [&](DimId d) {
    return static_cast<std::size_t>(std::lower_bound(dims.begin(), dims.end(), d) - dims.begin());
  };
  std::vector<std::size_t> block(dims.size());
  std::iota(block.begin(), block.end(), std::size_t{0});
  for (const Problem::Access& access : accesses) {
    for (const Affine& axis : access.axes) {
      const std::size_t to = block[place(axis.terms.front().dim)];
      for (const Affine::Term& t : axis.terms) {
        std::replace(block.begin(), block.end(), std::size_t{block[place(t.dim)]}, to);
      }
    }
  }
  std::vector<std::vector<std::size_t>> blocks;
  for (std::size_t b = 0; b < dims.size(); ++b) {
    std::vector<std::size_t> members;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (block[d] == b) members.push_back(d);
    }
    if (!members.empty()) blocks.push_back(std::move(members));
  }
  return blocks;
}

// The access as a map of the block's dimensions.
Matrix map_of(const Problem::Access& access, const std::vector<DimId>& dims,
              const std::vector<std::size_t>& block) {
  Matrix map;
  for (const Affine& axis : access.axes) {
    std::vector<Rational> row(block.size(), Rational(0));
    bool any = false;
    for (const Affine::Term& t : axis.terms) {
      for (std::size_t k = 0; k < block.size(); ++k) {
        if (dims[block[k]] != t.dim) continue;
        row[k] = Rational(t.coefficient);
        any = true;
      }
    }
    if (any) map.push_back(std::move(row));
  }
  return map;
}

Matrix place_along(std::size_t k, std::size_t d) {
  Matrix map{std::vector<Rational>(d, Rational(0))};
  map[0][k] = 1;
  return map;
}

}  // namespace

ExponentSet::ExponentSet(const Problem::Statement& statement) {
  const std::vector<Problem::Access> accesses = accesses_of(statement);
  const std::vector<DimId> dims = dims_of(statement);
  accesses_ = accesses.size();
  dims_ = dims.size();
  for (const std::vector<std::size_t>& block : blocks_of(accesses, dims)) {
    const std::size_t d = block.size();
    std::vector<Matrix> maps;
    std::vector<Subspace> kernels{Subspace::whole(d)};
    for (const Problem::Access& a : accesses) {
      maps.push_back(map_of(a, dims, block));
      kernels.push_back(Subspace::kernel(d, maps.back()));
    }
    std::vector<Subspace> with_dims = kernels;
    for (std::size_t k = 0; k < d; ++k) {
      with_dims.push_back(Subspace::kernel(d, place_along(k, d)));
    }
    bool has_dims = true;
    std::optional<std::vector<Subspace>> all = lattice(std::move(with_dims), most_subspaces);
    if (!all) {
      has_dims = false;
      all = lattice(std::move(kernels), most_subspaces);
    }
    if (!all) {
      known_ = false;
      return;
    }
    for (const Subspace& v : *all) {
      if (v.dimension() == 0) continue;
      LinearProgram::Row row{std::vector<Rational>(accesses_ + dims_, Rational(0)),
                             Rational(v.dimension())};
      for (std::size_t j = 0; j < accesses_; ++j) row.a[j] = Rational(v.rank_of_image(maps[j]));
      for (std::size_t k = 0; has_dims && k < d; ++k) {
        row.a[accesses_ + block[k]] = Rational(v.rank_of_image(place_along(k, d)));
      }
      const auto same = [&](const LinearProgram::Row& r) { return r.a == row.a && r.b >= row.b; };
      if (std::none_of(rows_.begin(), rows_.end(), same)) rows_.push_back(std::move(row));
    }
  }
}

std::optional<Exponents> ExponentSet::least(const std::vector<Rational>& access_costs,
                                            const std::vector<Rational>& dim_costs,
                                            const std::vector<bool>& small) const {
  return least(access_costs, dim_costs, small, nullptr);
}

std::optional<Exponents> ExponentSet::least(const std::vector<Rational>& access_costs,
                                            const std::vector<Rational>& dim_costs,
                                            const std::vector<bool>& small,
                                            const Rational& sum) const {
  return least(access_costs, dim_costs, small, &sum);
}

std::optional<Exponents> ExponentSet::least(const std::vector<Rational>& access_costs,
                                            const std::vector<Rational>& dim_costs,
                                            const std::vector<bool>& small,
                                            const Rational* sum) const {
  if (!known_) return {};
  // Columns: the accesses and the small dimensions.
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < accesses_ + dims_; ++j) {
    if (j < accesses_ || small[j - accesses_]) columns.push_back(j);
  }
  LinearProgram p;
  for (std::size_t j : columns) {
    p.costs.push_back(j < accesses_ ? access_costs[j] : dim_costs[j - accesses_]);
  }
  for (const LinearProgram::Row& full : rows_) {
    LinearProgram::Row row{{}, full.b};
    for (std::size_t j : columns) row.a.push_back(full.a[j]);
    p.rows.push_back(std::move(row));
  }
  if (sum != nullptr) {
    for (int sign : {1, -1}) {
      LinearProgram::Row row{std::vector<Rational>(columns.size(), Rational(0)), sign * *sum};
      for (std::size_t j = 0; j < accesses_; ++j) row.a[j] = sign;
      p.rows.push_back(std::move(row));
    }
  }
  const std::optional<std::vector<Rational>> x = solve(p);
  if (!x) return {};
  Exponents e{std::vector<Rational>(accesses_, Rational(0)),
              std::vector<Rational>(dims_, Rational(0))};
  for (std::size_t k = 0; k < columns.size(); ++k) {
    // More than 1 is never needed: of V, an access with the exponent 1 leaves no more than its
    // kernel in V, and there the others do without it.
    (columns[k] < accesses_ ? e.access[columns[k]] : e.dim[columns[k] - accesses_]) =
        (*x)[k] > 1 ? Rational(1) : (*x)[k];
  }
  return e;
}

bool ExponentSet::contains(const Exponents& e) const {
  if (!known_) return false;
  const auto valid = [](const Rational& s) { return s >= 0 && s <= 1; };
  return std::all_of(e.access.begin(), e.access.end(), valid) &&
         std::all_of(e.dim.begin(), e.dim.end(), valid) &&
         std::all_of(rows_.begin(), rows_.end(), [&](const LinearProgram::Row& row) {
           Rational left = 0;
           for (std::size_t j = 0; j < accesses_; ++j) left += row.a[j] * e.access[j];
           for (std::size_t k = 0; k < dims_; ++k) left += row.a[accesses_ + k] * e.dim[k];
           return left >= row.b;
         });
}

}  // namespace tcsim::bounds
