#include "core/bounds/linear_program.hpp"

#include <cassert>
#include <cstddef>
#include <utility>

namespace tcsim::bounds {
namespace {

// Each variable is an x or what a row has above its b; all are at least 0. Those of the rows of the
// table (basic) are sums of the others, which are 0: a constant, and a number for each of the
// others. The cost is such a sum too. None of its numbers is below 0 at any time, so once no
// constant is, the cost is least.
class Dictionary {
 public:
  explicit Dictionary(const LinearProgram& p) : cost_(p.costs), x_(p.costs.size()) {
    for (std::size_t j = 0; j < x_; ++j) {
      assert(p.costs[j] >= 0);
      others_.push_back(j);
    }
    cost_.emplace_back(0);
    for (const LinearProgram::Row& row : p.rows) {
      assert(row.a.size() == x_);
      basic_.push_back(x_ + rows_.size());
      rows_.push_back(row.a);
      rows_.back().push_back(-row.b);
    }
  }

  // False where no x is feasible.
  bool minimize() {
    for (std::size_t row = negative(); row < rows_.size(); row = negative()) {
      const std::size_t column = entering(row);
      if (column == x_) return false;
      exchange(row, column);
    }
    return true;
  }

  std::vector<Rational> solution() const {
    std::vector<Rational> x(x_, Rational(0));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (basic_[i] < x_) x[basic_[i]] = rows_[i].back();
    }
    return x;
  }

 private:
  // Of the rows with a constant below 0 that of the first variable; as many as there are rows where
  // none is.
  std::size_t negative() const {
    std::size_t row = rows_.size();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].back() < 0 && (row == rows_.size() || basic_[i] < basic_[row])) row = i;
    }
    return row;
  }

  // What raises the row at the least cost, of those the first variable; x_ where nothing does.
  std::size_t entering(std::size_t row) const {
    std::size_t column = x_;
    Rational least;
    for (std::size_t j = 0; j < x_; ++j) {
      if (rows_[row][j] <= 0) continue;
      const Rational ratio = cost_[j] / rows_[row][j];
      if (column == x_ || ratio < least || (ratio == least && others_[j] < others_[column])) {
        column = j;
        least = ratio;
      }
    }
    return column;
  }

  void exchange(std::size_t row, std::size_t column) {
    std::vector<Rational>& of = rows_[row];
    const Rational unit = 1 / of[column];
    for (Rational& v : of) {
      if (v != 0) v *= -unit;
    }
    of[column] = unit;
    for (std::vector<Rational>& other : rows_) {
      if (&other != &of) substitute(of, column, other);
    }
    substitute(of, column, cost_);
    std::swap(basic_[row], others_[column]);
  }
  static void substitute(const std::vector<Rational>& of, std::size_t column,
                         std::vector<Rational>& in) {
    if (in[column] == 0) return;
    const Rational times = in[column];
    in[column] = 0;
    for (std::size_t j = 0; j < of.size(); ++j) {
      if (of[j] != 0) in[j] += times * of[j];
    }
  }

  std::vector<std::vector<Rational>> rows_;  // numbers of the others, then the constant
  std::vector<Rational> cost_;
  std::size_t x_;                            // so many; rows follow
  std::vector<std::size_t> basic_, others_;  // the variables of rows and columns
};

}  // namespace

std::optional<std::vector<Rational>> solve(const LinearProgram& program) {
  Dictionary dictionary(program);
  if (!dictionary.minimize()) return {};
  return dictionary.solution();
}

}  // namespace tcsim::bounds
