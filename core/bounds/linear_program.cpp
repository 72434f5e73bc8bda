#include "core/bounds/linear_program.hpp"

#include <cassert>
#include <cstddef>
#include <utility>

namespace tcsim::bounds {
namespace {

// Equations over columns that are at least 0; each row has a basic column, which is a unit there.
// The columns: x, a surplus for each row, an artificial one for each row.
class Tableau {
 public:
  explicit Tableau(const LinearProgram& p) : x_(p.costs.size()), rows_(p.rows.size()) {
    for (std::size_t i = 0; i < rows_; ++i) {
      assert(p.rows[i].a.size() == x_);
      std::vector<Rational> row(columns() + 1, Rational(0));
      const int sign = p.rows[i].b < 0 ? -1 : 1;
      for (std::size_t j = 0; j < x_; ++j) row[j] = sign * p.rows[i].a[j];
      row[x_ + i] = -sign;
      row[x_ + rows_ + i] = 1;
      row.back() = sign * p.rows[i].b;
      table_.push_back(std::move(row));
      basis_.push_back(x_ + rows_ + i);
    }
  }

  // Whether the artificial columns can all be 0.
  bool make_feasible() {
    std::vector<Rational> costs(columns(), Rational(0));
    for (std::size_t i = 0; i < rows_; ++i) costs[x_ + rows_ + i] = 1;
    if (!minimize(costs, columns())) return false;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (basis_[i] >= x_ + rows_ && table_[i].back() != 0) return false;
    }
    // Those that are still basic, at 0, leave where their row has another column.
    for (std::size_t i = 0; i < rows_; ++i) {
      if (basis_[i] < x_ + rows_) continue;
      for (std::size_t j = 0; j < x_ + rows_; ++j) {
        if (table_[i][j] == 0) continue;
        pivot(i, j);
        break;
      }
    }
    return true;
  }

  bool minimize(const std::vector<Rational>& given) {
    std::vector<Rational> costs = given;
    costs.resize(columns(), Rational(0));
    return minimize(costs, x_ + rows_);
  }

  std::vector<Rational> solution() const {
    std::vector<Rational> x(x_, Rational(0));
    for (std::size_t i = 0; i < rows_; ++i) {
      if (basis_[i] < x_) x[basis_[i]] = table_[i].back();
    }
    return x;
  }

 private:
  std::size_t columns() const { return x_ + 2 * rows_; }

  // Columns from `allowed` on stay out. False where the cost has no least value.
  bool minimize(const std::vector<Rational>& costs, std::size_t allowed) {
    cost_ = costs;
    for (std::size_t i = 0; i < rows_; ++i) {
      const Rational times = costs[basis_[i]];
      if (times == 0) continue;
      for (std::size_t j = 0; j < columns(); ++j) cost_[j] -= times * table_[i][j];
    }
    for (;;) {
      std::size_t enter = 0;
      while (enter < allowed && cost_[enter] >= 0) ++enter;
      if (enter == allowed) return true;
      std::size_t leave = rows_;
      Rational least;
      for (std::size_t i = 0; i < rows_; ++i) {
        if (table_[i][enter] <= 0) continue;
        const Rational ratio = table_[i].back() / table_[i][enter];
        if (leave == rows_ || ratio < least || (ratio == least && basis_[i] < basis_[leave])) {
          leave = i;
          least = ratio;
        }
      }
      if (leave == rows_) return false;
      pivot(leave, enter);
    }
  }

  void pivot(std::size_t row, std::size_t column) {
    const Rational unit = table_[row][column];
    for (Rational& v : table_[row]) v /= unit;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (i == row || table_[i][column] == 0) continue;
      const Rational times = table_[i][column];
      for (std::size_t j = 0; j < table_[i].size(); ++j) {
        if (table_[row][j] != 0) table_[i][j] -= times * table_[row][j];
      }
    }
    const Rational times = cost_[column];
    for (std::size_t j = 0; j < columns() && times != 0; ++j) {
      if (table_[row][j] != 0) cost_[j] -= times * table_[row][j];
    }
    basis_[row] = column;
  }

  std::size_t x_, rows_;
  std::vector<std::vector<Rational>> table_;
  std::vector<std::size_t> basis_;
  std::vector<Rational> cost_;  // of each column, less what its basic ones cost
};

}  // namespace

std::optional<std::vector<Rational>> solve(const LinearProgram& program) {
  Tableau tableau(program);
  if (!tableau.make_feasible() || !tableau.minimize(program.costs)) return {};
  return tableau.solution();
}

}  // namespace tcsim::bounds
