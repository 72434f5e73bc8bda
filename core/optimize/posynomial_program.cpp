#include "core/optimize/posynomial_program.hpp"

#include <algorithm>
#include <cmath>

namespace tcsim {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of the distance between value and bound, in logarithms.
constexpr double solved_within = 1e-6;
constexpr int most_newton_steps = 60;
// By how much a step brings multipliers and constraints nearer together.
constexpr double sharper = 6;
// Of sums of shares of the memory: tiles of one that fill all of it fit.
constexpr double fits_within = 1e-9;
// Of a step: of the way to where a multiplier is 0, of the progress it should make, and how much
// shorter the next one is that is tried.
constexpr double nearly_all = 0.99, least_progress = 0.01, shorter = 0.5;
constexpr int most_shorter = 30;

// The least of gradient * x for x from 0 to `upper`, relative to `y`.
double least_in_box(double gradient, double y, double upper) {
  return std::min(-gradient * y, gradient * (upper - y));
}

class InteriorPoint {
 public:
  explicit InteriorPoint(const PosynomialProgram& program)
      : p_(program),
        n_(static_cast<Index>(program.upper.size())),
        sums_(static_cast<Index>(program.at_most_one.size())),
        nested_(static_cast<Index>(program.nested.size())),
        upper_(VectorXd::Map(program.upper.data(), n_)) {}

  std::optional<PosynomialOptimum> run(double cut_off) {
    if (over(VectorXd::Zero(n_)) > fits_within) return {};
    PosynomialOptimum optimum;
    if (n_ == 0) {
      optimum.log_value = optimum.log_bound = p_.objective.log_value(upper_);
      return optimum;
    }
    optimum.log_bound = -std::numeric_limits<double>::infinity();
    Point at = looked_at(inside());
    VectorXd multipliers = -at.constraints.cwiseInverse();
    for (int step = 0;; ++step) {
      optimum.log_bound = std::max(optimum.log_bound, bound(at, multipliers));
      if (at.value - optimum.log_bound < solved_within || optimum.log_bound > cut_off) break;
      if (step == most_newton_steps || !make_step(at, multipliers)) break;
    }
    optimum.y.assign(at.y.data(), at.y.data() + n_);
    optimum.log_value = at.value;
    optimum.log_bound = std::min(optimum.log_bound, at.value);
    return optimum;
  }

 private:
  // Constraints are at most 0: sums, nested ones, what is above 0, what is below the upper limit.
  struct Point {
    VectorXd y, gradient, constraints;
    MatrixXd sums;  // a column of derivatives for each
    double value = 0;
  };

  double over(const VectorXd& y) const {
    double most = -std::numeric_limits<double>::infinity();
    for (const Posynomial& sum : p_.at_most_one) most = std::max(most, sum.log_value(y));
    return most;
  }

  // Tiles of like shares of their range, well inside: steps from near a border are short.
  VectorXd inside() const {
    std::vector<int> outer_of(p_.upper.size(), -1);
    for (const auto& [inner, outer] : p_.nested) outer_of[static_cast<std::size_t>(inner)] = outer;
    VectorXd depth = VectorXd::Zero(n_);
    for (Index k = 0; k < n_; ++k) {
      for (auto v = k; v >= 0; v = outer_of[static_cast<std::size_t>(v)]) ++depth[k];
    }
    const VectorXd shape = upper_.array() * (1 - depth.array() / (depth.maxCoeff() + 1));
    const double half = (over(VectorXd::Zero(n_)) + posynomial_slack) / 2;
    double low = 0, high = 1;
    if (over(shape) <= half) return shape;
    for (int step = 0; step < 40; ++step) {
      const double middle = (low + high) / 2;
      (over(middle * shape) <= half ? low : high) = middle;
    }
    return std::max(low, 1e-12) * shape;
  }

  Point looked_at(VectorXd y) const {
    Point at;
    at.gradient = VectorXd::Zero(n_);
    at.sums = MatrixXd::Zero(n_, sums_);
    at.constraints.resize(sums_ + nested_ + 2 * n_);
    at.value = p_.objective.log_value(y, at.gradient.data());
    for (Index i = 0; i < sums_; ++i) {
      at.constraints[i] =
          p_.at_most_one[static_cast<std::size_t>(i)].log_value(y, at.sums.col(i).data()) -
          posynomial_slack;
    }
    for (Index i = 0; i < nested_; ++i) {
      const auto& [inner, outer] = p_.nested[static_cast<std::size_t>(i)];
      at.constraints[sums_ + i] = y[inner] - y[outer];
    }
    at.constraints.segment(sums_ + nested_, n_) = -y;
    at.constraints.tail(n_) = y - upper_;
    at.y = std::move(y);
    return at;
  }

  // Sum of constraints' derivatives, each times its weight, but for those of the box.
  VectorXd pull_of_rows(const Point& at, const VectorXd& weights) const {
    VectorXd pull = at.sums * weights.head(sums_);
    for (Index i = 0; i < nested_; ++i) {
      const auto& [inner, outer] = p_.nested[static_cast<std::size_t>(i)];
      pull[inner] += weights[sums_ + i];
      pull[outer] -= weights[sums_ + i];
    }
    return pull;
  }
  VectorXd pull(const Point& at, const VectorXd& weights) const {
    return pull_of_rows(at, weights) - weights.segment(sums_ + nested_, n_) + weights.tail(n_);
  }
  // How fast constraints change in a direction.
  VectorXd change(const Point& at, const VectorXd& direction) const {
    VectorXd all(at.constraints.size());
    all.head(sums_) = at.sums.transpose() * direction;
    for (Index i = 0; i < nested_; ++i) {
      const auto& [inner, outer] = p_.nested[static_cast<std::size_t>(i)];
      all[sums_ + i] = direction[inner] - direction[outer];
    }
    all.segment(sums_ + nested_, n_) = -direction;
    all.tail(n_) = direction;
    return all;
  }

  // For multipliers that are not negative the Lagrangian is nowhere above the objective where tiles
  // fit; it is convex, so no lower than its tangent, and that is least in a corner of the box.
  double bound(const Point& at, const VectorXd& multipliers) const {
    const VectorXd slope = at.gradient + pull_of_rows(at, multipliers);
    double least =
        at.value + multipliers.head(sums_ + nested_).dot(at.constraints.head(sums_ + nested_));
    for (Index k = 0; k < n_; ++k) least += least_in_box(slope[k], at.y[k], upper_[k]);
    return std::isfinite(least) ? least : -std::numeric_limits<double>::infinity();
  }

  // How far a point is from where slopes are level and each multiplier times its constraint is
  // -1/t.
  double residual(const Point& at, const VectorXd& multipliers, double t) const {
    const double slope = (at.gradient + pull(at, multipliers)).squaredNorm();
    const auto product = multipliers.array() * at.constraints.array();
    return std::sqrt(slope + (product + 1 / t).matrix().squaredNorm());
  }

  bool make_step(Point& at, VectorXd& multipliers) const {
    const double m = static_cast<double>(at.constraints.size());
    const double t = sharper * m / -at.constraints.dot(multipliers);
    const VectorXd room = -at.constraints;
    const VectorXd weight = multipliers.cwiseQuotient(room);
    const VectorXd central = (room * t).cwiseInverse();
    MatrixXd curvature = MatrixXd::Zero(n_, n_);
    p_.objective.add_curvature(at.y, 1, curvature);
    for (Index i = 0; i < sums_; ++i) {
      p_.at_most_one[static_cast<std::size_t>(i)].add_curvature(at.y, multipliers[i], curvature);
    }
    curvature += at.sums * weight.head(sums_).asDiagonal() * at.sums.transpose();
    for (Index i = 0; i < nested_; ++i) {
      const auto& [inner, outer] = p_.nested[static_cast<std::size_t>(i)];
      const double w = weight[sums_ + i];
      curvature(inner, inner) += w;
      curvature(outer, outer) += w;
      curvature(inner, outer) -= w;
      curvature(outer, inner) -= w;
    }
    curvature.diagonal() += weight.segment(sums_ + nested_, n_) + weight.tail(n_);
    const VectorXd step = curvature.llt().solve(-(at.gradient + pull(at, central)));
    if (!step.allFinite()) return false;
    const VectorXd turn = central - multipliers + weight.cwiseProduct(change(at, step));
    double length = 1;
    for (Index i = 0; i < turn.size(); ++i) {
      if (turn[i] < 0) length = std::min(length, -multipliers[i] / turn[i]);
    }
    length *= nearly_all;
    const double before = residual(at, multipliers, t);
    for (int tried = 0; tried < most_shorter; ++tried, length *= shorter) {
      Point next = looked_at(at.y + length * step);
      if (next.constraints.maxCoeff() >= 0) continue;
      VectorXd turned = multipliers + length * turn;
      if (residual(next, turned, t) > (1 - least_progress * length) * before) continue;
      at = std::move(next);
      multipliers = std::move(turned);
      return true;
    }
    return false;
  }

  const PosynomialProgram& p_;
  const Index n_, sums_, nested_;
  const VectorXd upper_;
};

}  // namespace

std::optional<PosynomialOptimum> solve(const PosynomialProgram& program, double cut_off) {
  return InteriorPoint(program).run(cut_off);
}

}  // namespace tcsim
