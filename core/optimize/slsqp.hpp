// NLopt's SLSQP on a smooth problem in logarithms: the least objective where constraints are at
// most 0, in a box. It gives up on rounding errors close to an optimum; where it stood is still
// good.
#pragma once

#include <algorithm>
#include <exception>
#include <nlopt.hpp>
#include <vector>

namespace tcsim {

struct SlsqpProblem {
  std::vector<double> lower, upper;  // the box, by variable
  int constraints = 0;
  double tolerance = 0;  // of constraints, and of the objective between two steps
  int evaluations = 0;   // at most
};

// From y on; y is in the box afterwards. `program` has
//     double objective(const double* y, double* gradient) const;
//     void constrain(const double* y, double* values, double* gradients) const;
// with gradients that may be null and are zero on entry, those of constraints one behind another.
// True if SLSQP says that it is done.
template <class Program>
bool slsqp(const Program& program, const SlsqpProblem& problem, std::vector<double>& y) {
  // NLopt hands on a pointer that is not const.
  struct Call {
    const Program& program;
  } call{program};
  const auto objective = [](unsigned n, const double* at, double* gradient, void* data) {
    if (gradient != nullptr) std::fill_n(gradient, n, 0.0);
    return static_cast<const Call*>(data)->program.objective(at, gradient);
  };
  const auto constrain = [](unsigned m, double* values, unsigned n, const double* at,
                            double* gradients, void* data) {
    if (gradients != nullptr) std::fill_n(gradients, m * n, 0.0);
    static_cast<const Call*>(data)->program.constrain(at, values, gradients);
  };
  nlopt::opt opt(nlopt::LD_SLSQP, static_cast<unsigned>(y.size()));
  opt.set_min_objective(objective, &call);
  opt.add_inequality_mconstraint(
      constrain, &call,
      std::vector<double>(static_cast<std::size_t>(problem.constraints), problem.tolerance));
  opt.set_lower_bounds(problem.lower);
  opt.set_upper_bounds(problem.upper);
  opt.set_ftol_abs(problem.tolerance);
  opt.set_maxeval(problem.evaluations);
  bool done = false;
  try {
    double least = 0;
    done = opt.optimize(y, least) > 0;
  } catch (const std::exception&) {
  }
  for (std::size_t v = 0; v < y.size(); ++v) {
    y[v] = std::clamp(y[v], problem.lower[v], problem.upper[v]);
  }
  return done;
}

}  // namespace tcsim
