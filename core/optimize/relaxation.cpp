#include "core/optimize/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <nlopt.hpp>

#include "core/error.hpp"
#include "core/optimize/posynomial.hpp"

namespace tcsim {

namespace {

// The operand that each class does not index is missed by that class: left lacks n, right lacks m,
// the output lacks k.
constexpr std::array lacking{1, 0, 2};

class Program {
 public:
  Program(const RelaxationProblem& problem, const InnermostChoice& innermost)
      : problem_(problem), levels_(static_cast<int>(problem.capacity.size())) {
    const double volume = problem.extents[0] * problem.extents[1] * problem.extents[2];
    const double weight[3] = {1, 1, problem.output_weight};
    // Registers: operands are loaded once per register tile, C once per kernel call.
    Posynomial core;
    const double core_seconds = problem.seconds_per_element[0];
    core.add(volume / std::min(problem.smallest[1], problem.extents[1]) * core_seconds, {});
    core.add(volume / std::min(problem.smallest[0], problem.extents[0]) * core_seconds, {});
    // C is stored for every tile of k and loaded for all but the first.
    core.add(volume * core_seconds, {{variable(0, 2), -1}});
    times_.push_back(core);
    for (int l = 0; l < levels_; ++l) {
      Posynomial time;
      const double seconds = problem.seconds_per_element[static_cast<std::size_t>(l) + 1];
      for (int operand = 0; operand < 3; ++operand) {
        const int lacks = lacking[static_cast<std::size_t>(operand)];
        const int level = innermost[static_cast<std::size_t>(l)] == lacks ? l + 1 : l;
        const double moved = weight[operand] * volume * seconds;
        if (level == levels_) {
          time.add(moved / problem.extents[static_cast<std::size_t>(lacks)], {});
        } else {
          time.add(moved, {{variable(level, lacks), -1}});
        }
      }
      times_.push_back(time);
      Posynomial footprint;
      const double share = 1 / problem.capacity[static_cast<std::size_t>(l)];
      footprint.add(share, {{variable(l, 0), 1}, {variable(l, 2), 1}});
      footprint.add(share, {{variable(l, 1), 1}, {variable(l, 2), 1}});
      footprint.add(share, {{variable(l, 0), 1}, {variable(l, 1), 1}});
      footprints_.push_back(footprint);
    }
  }

  int variables() const { return 3 * levels_ + 1; }  // the last one is log of the time
  int variable(int level, int cls) const { return 3 * level + cls; }
  int constraints() const { return 2 * levels_ + 1 + 3 * (levels_ - 1); }

  // min t + a little of every link's log time, so that links that do not decide are good as well.
  double objective(const Eigen::VectorXd& y, double* gradient) const {
    double value = y[variables() - 1];
    if (gradient != nullptr) gradient[variables() - 1] = 1;
    for (const Posynomial& time : times_)
      value += tie_break * time.log_value(y, gradient, tie_break);
    return value;
  }

  // Rows of c(y) <= 0; the gradient is row-major and zero on entry.
  void constrain(const Eigen::VectorXd& y, double* values, double* gradient) const {
    const int n = variables();
    int row = 0;
    const auto slope = [&] { return gradient == nullptr ? nullptr : gradient + row * n; };
    for (const Posynomial& time : times_) {
      values[row] = time.log_value(y, slope()) - y[n - 1];
      if (gradient != nullptr) slope()[n - 1] -= 1;
      ++row;
    }
    for (const Posynomial& footprint : footprints_) {
      values[row] = footprint.log_value(y, slope());
      ++row;
    }
    for (int v = 0; v < 3 * (levels_ - 1); ++v, ++row) {
      values[row] = y[v] - y[v + 3];
      if (gradient != nullptr) {
        slope()[v] = 1;
        slope()[v + 3] = -1;
      }
    }
  }

  double link_seconds(int link, const Eigen::VectorXd& y) const {
    return std::exp(times_[static_cast<std::size_t>(link)].log_value(y));
  }

 private:
  static constexpr double tie_break = 0.01;
  const RelaxationProblem& problem_;
  int levels_;
  std::vector<Posynomial> times_;
  std::vector<Posynomial> footprints_;
};

double objective(unsigned n, const double* x, double* gradient, void* data) {
  if (gradient != nullptr) std::fill_n(gradient, n, 0.0);
  return static_cast<const Program*>(data)->objective(
      Eigen::Map<const Eigen::VectorXd>(x, static_cast<Eigen::Index>(n)), gradient);
}

void constrain(unsigned m, double* result, unsigned n, const double* x, double* gradient,
               void* data) {
  if (gradient != nullptr) std::fill_n(gradient, m * n, 0.0);
  static_cast<const Program*>(data)->constrain(
      Eigen::Map<const Eigen::VectorXd>(x, static_cast<Eigen::Index>(n)), result, gradient);
}

}  // namespace

Relaxed solve(const RelaxationProblem& problem, const InnermostChoice& innermost) {
  Program program(problem, innermost);
  const auto n = static_cast<std::size_t>(program.variables());
  const std::size_t levels = problem.capacity.size();
  std::vector<double> lower(n, -HUGE_VAL), upper(n, HUGE_VAL);
  for (std::size_t l = 0; l < levels; ++l) {
    for (std::size_t c = 0; c < 3; ++c) {
      lower[3 * l + c] = std::log(std::min(problem.smallest[c], problem.extents[c]));
      upper[3 * l + c] = std::log(problem.extents[c]);
    }
  }
  if (problem.least_seconds > 0) lower[n - 1] = std::log(problem.least_seconds);
  nlopt::opt opt(nlopt::LD_SLSQP, static_cast<unsigned>(n));
  opt.set_min_objective(objective, &program);
  opt.add_inequality_mconstraint(
      constrain, &program,
      std::vector<double>(static_cast<std::size_t>(program.constraints()), 1e-9));
  opt.set_lower_bounds(lower);
  opt.set_upper_bounds(upper);
  opt.set_ftol_abs(1e-9);
  opt.set_maxeval(300);

  // SLSQP sometimes stops where it began although the problem is convex, so it begins twice, with
  // square tiles and with tiles that are long in k, well inside the caches; the better end counts.
  Relaxed best;
  bool best_fits = false;
  for (double k_share : {1.0, 4.0}) {
    std::vector<double> y(n, 0);
    for (std::size_t l = 0; l < levels; ++l) {
      const double side = std::sqrt(problem.capacity[l] / (2 + 4 * k_share));
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t v = 3 * l + c;
        y[v] = std::clamp(std::log(side * (c == 2 ? k_share : 1)), lower[v], upper[v]);
        if (l > 0) y[v] = std::max(y[v], y[v - 3]);
      }
    }
    const Eigen::Map<const Eigen::VectorXd> point(y.data(), static_cast<Eigen::Index>(n));
    const auto slowest = [&] {
      double t = lower[n - 1];
      for (std::size_t i = 0; i <= levels; ++i) {
        t = std::max(t, std::log(program.link_seconds(static_cast<int>(i), point)));
      }
      return t;
    };
    y[n - 1] = slowest();
    bool solved = false;
    double value = 0;
    try {
      solved = opt.optimize(y, value) > 0;
    } catch (const std::exception&) {
      // It gives up on rounding errors close to the optimum; where it stood is still good.
    }
    for (std::size_t v = 0; v < n; ++v) y[v] = std::clamp(y[v], lower[v], upper[v]);
    y[n - 1] = slowest();
    std::vector<double> violated(static_cast<std::size_t>(program.constraints()));
    program.constrain(point, violated.data(), nullptr);
    const bool fits = *std::max_element(violated.begin(), violated.end()) < 1e-6;
    if (!best.tiles.empty() && (!fits || (best_fits && std::exp(y[n - 1]) >= best.seconds)))
      continue;
    best_fits = fits;
    best.innermost = innermost;
    best.solved = solved;
    best.seconds = problem.least_seconds;
    best.tiles.assign(levels, {});
    best.link_seconds.clear();
    for (std::size_t i = 0; i <= levels; ++i) {
      best.link_seconds.push_back(program.link_seconds(static_cast<int>(i), point));
      best.seconds = std::max(best.seconds, best.link_seconds.back());
      for (std::size_t c = 0; c < 3 && i < levels; ++c) best.tiles[i][c] = std::exp(y[3 * i + c]);
    }
  }
  return best;
}

std::vector<Relaxed> solve_all(const RelaxationProblem& problem, std::stop_token stop) {
  std::vector<Relaxed> all;
  InnermostChoice choice(problem.capacity.size(), 0);
  while (true) {
    if (stop.stop_requested()) throw Interrupted();
    all.push_back(solve(problem, choice));
    std::size_t l = 0;
    while (l < choice.size() && ++choice[l] == 3) choice[l++] = 0;
    if (l == choice.size()) break;
  }
  const auto sum = [](const Relaxed& r) {
    double s = r.seconds * 1e3;  // the slowest link first, the others to break ties
    for (double t : r.link_seconds) s += t;
    return s;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Relaxed& a, const Relaxed& b) { return sum(a) < sum(b); });
  return all;
}

}  // namespace tcsim
