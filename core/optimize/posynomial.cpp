#include "core/optimize/posynomial.hpp"

#include <algorithm>
#include <cmath>

namespace tcsim {

void Posynomial::add(double coefficient, const std::vector<std::pair<int, double>>& exponents) {
  if (coefficient > 0) terms_.push_back({std::log(coefficient), exponents});
}

double Posynomial::log_value(const Eigen::Ref<const Eigen::VectorXd>& y, double* gradient,
                             double scale) const {
  Eigen::VectorXd exponent(static_cast<Eigen::Index>(terms_.size()));
  for (Eigen::Index i = 0; i < exponent.size(); ++i) {
    const Term& term = terms_[static_cast<std::size_t>(i)];
    exponent[i] = term.log_coefficient;
    for (const auto& [j, e] : term.exponents) exponent[i] += e * y[j];
  }
  const double largest = exponent.maxCoeff();
  exponent = (exponent.array() - largest).exp();
  const Eigen::VectorXd& weight = exponent;
  const double sum = weight.sum();
  if (gradient != nullptr) {
    for (Eigen::Index i = 0; i < exponent.size(); ++i) {
      for (const auto& [j, e] : terms_[static_cast<std::size_t>(i)].exponents) {
        gradient[j] += scale * e * weight[i] / sum;
      }
    }
  }
  return largest + std::log(sum);
}

}  // namespace tcsim
