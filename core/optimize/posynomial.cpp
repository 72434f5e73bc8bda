#include "core/optimize/posynomial.hpp"

#include <algorithm>
#include <cmath>

namespace tcsim {

void Posynomial::add(double coefficient, const std::vector<std::pair<int, double>>& exponents) {
  if (coefficient > 0) terms_.push_back({std::log(coefficient), exponents});
}

double Posynomial::weigh(const Eigen::Ref<const Eigen::VectorXd>& y,
                         Eigen::VectorXd& weights) const {
  weights.resize(static_cast<Eigen::Index>(terms_.size()));
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    const Term& term = terms_[static_cast<std::size_t>(i)];
    weights[i] = term.log_coefficient;
    for (const auto& [j, e] : term.exponents) weights[i] += e * y[j];
  }
  const double largest = weights.maxCoeff();
  weights = (weights.array() - largest).exp();
  return largest;
}

double Posynomial::log_value(const Eigen::Ref<const Eigen::VectorXd>& y, double* gradient,
                             double scale) const {
  Eigen::VectorXd weights;
  const double largest = weigh(y, weights);
  const double sum = weights.sum();
  if (gradient != nullptr) {
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      for (const auto& [j, e] : terms_[static_cast<std::size_t>(i)].exponents) {
        gradient[j] += scale * e * weights[i] / sum;
      }
    }
  }
  return largest + std::log(sum);
}

void Posynomial::add_curvature(const Eigen::VectorXd& y, double scale, Eigen::MatrixXd& to) const {
  Eigen::VectorXd shares, gradient = Eigen::VectorXd::Zero(y.size());
  weigh(y, shares);
  shares /= shares.sum();
  for (Eigen::Index i = 0; i < shares.size(); ++i) {
    const auto& exponents = terms_[static_cast<std::size_t>(i)].exponents;
    for (const auto& [j, e] : exponents) {
      gradient[j] += e * shares[i];
      for (const auto& [k, f] : exponents) to(j, k) += scale * e * f * shares[i];
    }
  }
  to.noalias() -= scale * gradient * gradient.transpose();
}

}  // namespace tcsim
