// That choosing innermost loops by dimension class loses nothing: acmtc-sc19 solves one problem for
// each of the 343 innermost choices of a 7-index contraction on three caches, over a tile size per
// dimension and level; core/optimize/relaxation.hpp solves 27, over one per class.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlopt.hpp>

#include "core/optimize/posynomial.hpp"
#include "core/optimize/relaxation.hpp"

namespace tcsim {
namespace {

constexpr int dims = 7, levels = 3;

// abcdef-degb-gfac: classes of a..g (0 m: A and C, 1 n: B and C, 2 k: A and B).
constexpr std::array<int, dims> class_of{1, 0, 1, 0, 0, 1, 2};
constexpr std::array<double, dims> extent{24, 16, 16, 24, 16, 16, 24};
constexpr std::array<double, levels> capacity{4096, 32768, 2e6};
constexpr std::array<double, levels + 1> seconds{1, 2, 5, 40};
constexpr double output_weight = 2;

// Classes that an operand lacks: A (m, k) lacks n, B lacks m, C lacks k.
constexpr std::array<int, 3> lacking{1, 0, 2};
constexpr std::array<double, 3> weight{1, 1, output_weight};

constexpr int variable(int level, int dim) { return dims * level + dim; }
constexpr int variables = dims * levels + 1;  // the last is the log of the time

double volume() {
  double v = 1;
  for (double e : extent) v *= e;
  return v;
}

// The per-dimension problem in log space, for the innermost dimension of each level.
struct Program {
  std::vector<Posynomial> times, footprints;

  explicit Program(const std::array<int, levels>& innermost) {
    for (int l = 0; l < levels; ++l) {
      Posynomial time, footprint;
      for (std::size_t operand = 0; operand < 3; ++operand) {
        double coefficient = weight[operand] * volume() * seconds[static_cast<std::size_t>(l) + 1];
        std::vector<std::pair<int, double>> exponents, area;
        for (int d = 0; d < dims; ++d) {
          const auto at = static_cast<std::size_t>(d);
          if (class_of[at] != lacking[operand]) {
            area.emplace_back(variable(l, d), 1);
            continue;
          }
          // Reused along the innermost loop as far as the tile one level further out goes.
          const int reach = innermost[static_cast<std::size_t>(l)] == d ? l + 1 : l;
          if (reach == levels) {
            coefficient /= extent[at];
          } else {
            exponents.emplace_back(variable(reach, d), -1);
          }
        }
        time.add(coefficient, exponents);
        footprint.add(1 / capacity[static_cast<std::size_t>(l)], area);
      }
      times.push_back(time);
      footprints.push_back(footprint);
    }
  }
};

double objective(unsigned n, const double* y, double* gradient, void*) {
  if (gradient != nullptr) {
    std::fill_n(gradient, n, 0.0);
    gradient[n - 1] = 1;
  }
  return y[n - 1];
}

void constrain(unsigned m, double* result, unsigned n, const double* x, double* gradient,
               void* data) {
  const auto& program = *static_cast<const Program*>(data);
  const Eigen::Map<const Eigen::VectorXd> y(x, static_cast<Eigen::Index>(n));
  if (gradient != nullptr) std::fill_n(gradient, m * n, 0.0);
  std::size_t row = 0;
  const auto slope = [&] { return gradient == nullptr ? nullptr : gradient + row * n; };
  for (const Posynomial& time : program.times) {
    result[row] = time.log_value(y, slope()) - x[n - 1];
    if (gradient != nullptr) slope()[n - 1] -= 1;
    ++row;
  }
  for (const Posynomial& footprint : program.footprints) {
    result[row] = footprint.log_value(y, slope());
    ++row;
  }
  for (int v = 0; v < dims * (levels - 1); ++v, ++row) {
    result[row] = x[v] - x[v + dims];
    if (gradient != nullptr) {
      slope()[v] = 1;
      slope()[v + dims] = -1;
    }
  }
}

constexpr unsigned constraints = 2 * levels + dims * (levels - 1);

// Log of the least time of one choice, the best of two starts.
double solve_by_dimension(const std::array<int, levels>& innermost) {
  Program program(innermost);
  double best = HUGE_VAL;
  for (double fill : {0.5, 0.2}) {
    nlopt::opt opt(nlopt::LD_SLSQP, variables);
    std::vector<double> lower(variables, 0), upper(variables, 100), y(variables);
    for (int l = 0; l < levels; ++l) {
      for (int d = 0; d < dims; ++d) {
        const auto v = static_cast<std::size_t>(variable(l, d));
        upper[v] = std::log(extent[static_cast<std::size_t>(d)]);
        y[v] = upper[v] * fill * (l + 1) / levels;
      }
    }
    lower[variables - 1] = -100;
    const auto worst_time = [&] {
      const Eigen::Map<const Eigen::VectorXd> point(y.data(), variables);
      double t = -100;
      for (const Posynomial& time : program.times) t = std::max(t, time.log_value(point));
      return t;
    };
    y[variables - 1] = worst_time();
    opt.set_min_objective(objective, nullptr);
    opt.add_inequality_mconstraint(constrain, &program, std::vector<double>(constraints, 1e-9));
    opt.set_lower_bounds(lower);
    opt.set_upper_bounds(upper);
    opt.set_ftol_abs(1e-7);
    opt.set_maxeval(300);
    double value = 0;
    try {
      opt.optimize(y, value);
    } catch (const std::exception&) {
      // It gives up on rounding errors close to the optimum.
    }
    double violated = 0;
    std::vector<double> rows(constraints);
    constrain(constraints, rows.data(), variables, y.data(), nullptr, &program);
    for (double r : rows) violated = std::max(violated, r);
    if (violated < 1e-5) best = std::min(best, worst_time());
  }
  return best;
}

TEST(Dimension_classes, All_343_choices_are_no_better_than_the_27_by_class) {
  RelaxationProblem by_class;
  by_class.extents = {1, 1, 1};
  for (std::size_t d = 0; d < dims; ++d) {
    by_class.extents[static_cast<std::size_t>(class_of[d])] *= extent[d];
  }
  by_class.smallest = {1, 1, 1};
  by_class.capacity = {capacity.begin(), capacity.end()};
  by_class.seconds_per_element = {1e-9, seconds[1], seconds[2], seconds[3]};
  by_class.output_weight = output_weight;

  std::map<InnermostChoice, double> of_classes;
  double best_of_classes = HUGE_VAL;
  for (int i = 0; i < 27; ++i) {
    const InnermostChoice choice{i % 3, i / 3 % 3, i / 9};
    of_classes[choice] = std::log(solve(by_class, choice).seconds);
    best_of_classes = std::min(best_of_classes, of_classes[choice]);
  }
  double best = HUGE_VAL;
  for (int i = 0; i < 343; ++i) {
    const std::array<int, levels> innermost{i % 7, i / 7 % 7, i / 49};
    const double t = solve_by_dimension(innermost);
    best = std::min(best, t);
    // A dimension's own reach is at most its class's, so no choice beats that of its classes.
    InnermostChoice choice;
    for (int d : innermost) choice.push_back(class_of[static_cast<std::size_t>(d)]);
    EXPECT_GE(t, of_classes[choice] - 2e-3) << innermost[0] << innermost[1] << innermost[2];
  }
  EXPECT_NEAR(best, best_of_classes, 2e-3);
}

}  // namespace
}  // namespace tcsim
