#include "core/bounds/subspace.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tcsim::bounds {
namespace {

// Gauss and Jordan; rows of zeros are left out.
Matrix reduced(Matrix rows, std::size_t columns) {
  std::size_t done = 0;
  for (std::size_t c = 0; c < columns && done < rows.size(); ++c) {
    std::size_t at = done;
    while (at < rows.size() && rows[at][c] == 0) ++at;
    if (at == rows.size()) continue;
    std::swap(rows[at], rows[done]);
    const Rational lead = rows[done][c];
    for (Rational& v : rows[done]) v /= lead;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r == done || rows[r][c] == 0) continue;
      const Rational times = rows[r][c];
      for (std::size_t k = 0; k < columns; ++k) rows[r][k] -= times * rows[done][k];
    }
    ++done;
  }
  rows.resize(done);
  return rows;
}

// Of all x with rows x = 0, the rows being reduced.
Matrix null_space(const Matrix& rows, std::size_t d) {
  std::vector<std::size_t> leads;
  for (const auto& row : rows) {
    leads.push_back(static_cast<std::size_t>(
        std::find_if(row.begin(), row.end(), [](const Rational& v) { return v != 0; }) -
        row.begin()));
  }
  Matrix basis;
  for (std::size_t free = 0; free < d; ++free) {
    if (std::find(leads.begin(), leads.end(), free) != leads.end()) continue;
    std::vector<Rational> x(d, Rational(0));
    x[free] = 1;
    for (std::size_t r = 0; r < rows.size(); ++r) x[leads[r]] = -rows[r][free];
    basis.push_back(std::move(x));
  }
  return basis;
}

}  // namespace

Subspace::Subspace(std::size_t d, Matrix rows) : d_(d), rows_(reduced(std::move(rows), d)) {}

Subspace Subspace::whole(std::size_t d) { return kernel(d, {}); }

Subspace Subspace::kernel(std::size_t d, const Matrix& map) {
  return {d, null_space(reduced(map, d), d)};
}

std::size_t Subspace::rank_of_image(const Matrix& map) const {
  Matrix image;
  for (const auto& row : rows_) {
    std::vector<Rational> y;
    for (const auto& m : map) {
      Rational dot = 0;
      for (std::size_t k = 0; k < d_; ++k) dot += m[k] * row[k];
      y.push_back(dot);
    }
    image.push_back(std::move(y));
  }
  return reduced(std::move(image), map.size()).size();
}

Subspace sum(const Subspace& a, const Subspace& b) {
  assert(a.d_ == b.d_);
  Matrix rows = a.rows_;
  rows.insert(rows.end(), b.rows_.begin(), b.rows_.end());
  return {a.d_, std::move(rows)};
}

Subspace intersection(const Subspace& a, const Subspace& b) {
  assert(a.d_ == b.d_);
  // What is orthogonal to both complements.
  Matrix rows = null_space(a.rows_, a.d_);
  const Matrix others = null_space(b.rows_, b.d_);
  rows.insert(rows.end(), others.begin(), others.end());
  return Subspace::kernel(a.d_, rows);
}

std::optional<std::vector<Subspace>> lattice(std::vector<Subspace> generators, std::size_t most) {
  std::vector<Subspace> all;
  const auto add = [&](Subspace s) {
    if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(std::move(s));
  };
  for (Subspace& s : generators) add(std::move(s));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (all.size() > most) return {};
      add(sum(all[i], all[j]));
      add(intersection(all[i], all[j]));
    }
  }
  return all;
}

}  // namespace tcsim::bounds
