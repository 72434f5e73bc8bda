// Posynomials in log space: sum_i exp(a_i . y + b_i), whose logarithm is convex in y. Traffic and
// footprints of a tiled contraction are of this form with y = log(tile sizes) (docs/design.md, "It
// is a geometric program").
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace tcsim {

class Posynomial {
 public:
  // Adds coefficient * prod_j x_j^exponent_j, given the non-zero exponents; coefficient > 0.
  void add(double coefficient, const std::vector<std::pair<int, double>>& exponents);
  bool empty() const { return terms_.empty(); }

  // log of the sum at y = log x; adds `scale` times the gradient to `gradient` (size variables)
  // where that is not null (one entry per variable).
  double log_value(const Eigen::Ref<const Eigen::VectorXd>& y, double* gradient = nullptr,
                   double scale = 1) const;
  // Adds `scale` times its second derivatives at y.
  void add_curvature(const Eigen::VectorXd& y, double scale, Eigen::MatrixXd& to) const;

 private:
  struct Term {
    double log_coefficient;
    std::vector<std::pair<int, double>> exponents;
  };
  // The terms at y relative to the largest one, whose logarithm is returned.
  double weigh(const Eigen::Ref<const Eigen::VectorXd>& y, Eigen::VectorXd& weights) const;

  std::vector<Term> terms_;
};

}  // namespace tcsim
