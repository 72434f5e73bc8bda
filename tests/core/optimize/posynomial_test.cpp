#include "core/optimize/posynomial.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tcsim {
namespace {

TEST(Posynomial, Gradient_is_the_slope_of_the_log_value) {
  Posynomial p;  // 2 x y^-1 + 5 z^2 + 1
  p.add(2, {{0, 1}, {1, -1}});
  p.add(5, {{2, 2}});
  p.add(1, {});
  Eigen::VectorXd y(3);
  y << 0.3, -0.7, 0.2;
  EXPECT_NEAR(p.log_value(y), std::log(2 * std::exp(1.0) + 5 * std::exp(0.4) + 1), 1e-12);
  double gradient[3] = {0, 0, 0};
  p.log_value(y, gradient);
  for (int i = 0; i < 3; ++i) {
    Eigen::VectorXd up = y, down = y;
    up[i] += 1e-6;
    down[i] -= 1e-6;
    EXPECT_NEAR(gradient[i], (p.log_value(up) - p.log_value(down)) / 2e-6, 1e-8);
  }
}

}  // namespace
}  // namespace tcsim
