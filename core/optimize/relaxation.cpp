#include "core/optimize/relaxation.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/optimize/posynomial.hpp"
#include "core/optimize/slsqp.hpp"

namespace tcsim {

namespace {

// The class that each operand lacks: left lacks n, right lacks m, the output lacks k.
constexpr std::array lacking{1, 0, 2};

// Source of these constants: chosen. The program bench_relaxation_peer compares what they give with
// Ipopt's objective and time.

// A solution over a bound: near enough to look no further.
constexpr double near_enough = 1.01;
// Weight of each link's log time in the objective, beside 1 for the slowest one's.
constexpr double tie_break = 1e-5;
// Of SLSQP: tolerance of constraints and of the objective, both in logarithms; evaluations at most.
constexpr double tolerance = 1e-9;
constexpr int most_evaluations = 300;
// Logarithm by which a point that fits its caches may pass a constraint.
constexpr double rounding = 1e-6;
// Tiles of the two starting points: how many times as long in k as in m and n.
constexpr double even_start = 1;
constexpr double long_start = 4;

class GeometricProgram {
 public:
  GeometricProgram(const RelaxationProblem& problem, const InnermostChoice& innermost)
      : levels_(static_cast<int>(problem.capacity.size())) {
    const double volume = problem.extents[0] * problem.extents[1] * problem.extents[2];
    const double weight[3] = {problem.share[0], problem.share[1], problem.output_weight};
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
      footprint.add(problem.share[0] * share, {{variable(l, 0), 1}, {variable(l, 2), 1}});
      footprint.add(problem.share[1] * share, {{variable(l, 1), 1}, {variable(l, 2), 1}});
      footprint.add(share, {{variable(l, 0), 1}, {variable(l, 1), 1}});
      footprints_.push_back(footprint);
    }
  }

  int variables() const { return 3 * levels_ + 1; }  // the last one is log of the time
  int variable(int level, int cls) const { return 3 * level + cls; }
  int constraints() const { return 2 * levels_ + 1 + 3 * (levels_ - 1); }

  // min t + tie_break of every link's log time, so that links that do not decide are good as well.
  double objective(const double* at, double* gradient) const {
    const Vector y = vector(at);
    double value = y[variables() - 1];
    if (gradient != nullptr) gradient[variables() - 1] = 1;
    for (const Posynomial& time : times_)
      value += tie_break * time.log_value(y, gradient, tie_break);
    return value;
  }

  // Rows of c(y) <= 0.
  void constrain(const double* at, double* values, double* gradient) const {
    const Vector y = vector(at);
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

  double link_seconds(int link, const std::vector<double>& y) const {
    return std::exp(times_[static_cast<std::size_t>(link)].log_value(vector(y.data())));
  }

 private:
  using Vector = Eigen::Map<const Eigen::VectorXd>;
  Vector vector(const double* y) const { return {y, static_cast<Eigen::Index>(variables())}; }

  int levels_;
  std::vector<Posynomial> times_;
  std::vector<Posynomial> footprints_;
};

// Runs SLSQP from several starting points and keeps the best end.
class Solver {
 public:
  Solver(const RelaxationProblem& problem, const InnermostChoice& innermost)
      : problem_(problem),
        levels_(problem.capacity.size()),
        program_(problem, innermost),
        lower_(static_cast<std::size_t>(program_.variables()), -HUGE_VAL),
        upper_(lower_.size(), HUGE_VAL) {
    best_.innermost = innermost;
    for (std::size_t l = 0; l < levels_; ++l) {
      for (std::size_t c = 0; c < 3; ++c) {
        lower_[3 * l + c] = std::log(std::min(problem.smallest[c], problem.extents[c]));
        upper_[3 * l + c] = std::log(problem.extents[c]);
      }
    }
    if (problem.least_seconds > 0) lower_.back() = std::log(problem.least_seconds);
  }

  // Begins well inside the caches, with tiles k_share times as long in k as in m and n.
  void run_from(double k_share) {
    std::vector<double> y(lower_.size(), 0);
    for (std::size_t v = 0; v + 1 < y.size(); ++v) {
      const double side = std::sqrt(problem_.capacity[v / 3] / (2 + 4 * k_share));
      y[v] = std::clamp(std::log(side * (v % 3 == 2 ? k_share : 1)), lower_[v], upper_[v]);
      if (v >= 3) y[v] = std::max(y[v], y[v - 3]);
    }
    y.back() = slowest(y);
    const bool solved =
        slsqp(program_, {lower_, upper_, program_.constraints(), tolerance, most_evaluations}, y);
    y.back() = slowest(y);
    keep(y, solved);
  }

  const Relaxed& best() const { return best_; }

 private:
  // Log of the slowest link's time, or of the compute roof.
  double slowest(const std::vector<double>& y) const {
    double t = lower_.back();
    for (std::size_t i = 0; i <= levels_; ++i) {
      t = std::max(t, std::log(program_.link_seconds(static_cast<int>(i), y)));
    }
    return t;
  }

  // A point that fits its caches is better than one that does not.
  void keep(const std::vector<double>& y, bool solved) {
    std::vector<double> violated(static_cast<std::size_t>(program_.constraints()));
    program_.constrain(y.data(), violated.data(), nullptr);
    const bool fits = *std::max_element(violated.begin(), violated.end()) < rounding;
    const bool better = fits != best_fits_ ? fits : std::exp(y.back()) < best_.seconds;
    if (!best_.tiles.empty() && !better) return;
    best_fits_ = fits;
    best_.solved = solved;
    best_.seconds = problem_.least_seconds;
    best_.tiles.assign(levels_, {});
    best_.link_seconds.clear();
    for (std::size_t i = 0; i <= levels_; ++i) {
      best_.link_seconds.push_back(program_.link_seconds(static_cast<int>(i), y));
      best_.seconds = std::max(best_.seconds, best_.link_seconds.back());
      for (std::size_t c = 0; c < 3 && i < levels_; ++c) {
        best_.tiles[i][c] = std::exp(y[3 * i + c]);
      }
    }
  }

  const RelaxationProblem& problem_;
  std::size_t levels_;
  GeometricProgram program_;
  std::vector<double> lower_, upper_;
  Relaxed best_;
  bool best_fits_ = false;
};

}  // namespace

Relaxed solve(const RelaxationProblem& problem, const InnermostChoice& innermost) {
  // SLSQP sometimes stops where it began although the problem is convex, so it begins twice.
  Solver solver(problem, innermost);
  solver.run_from(even_start);
  solver.run_from(long_start);
  return solver.best();
}

double quick_bound(const RelaxationProblem& problem, const InnermostChoice& innermost) {
  const std::array weight{problem.share[0], problem.share[1], problem.output_weight};
  const double volume = problem.extents[0] * problem.extents[1] * problem.extents[2];
  double slowest =
      std::max(problem.least_seconds, problem.seconds_per_element[0] * volume *
                                          (1 / std::min(problem.smallest[0], problem.extents[0]) +
                                           1 / std::min(problem.smallest[1], problem.extents[1]) +
                                           1 / problem.extents[2]));
  for (std::size_t l = 0; l < innermost.size(); ++l) {
    // An operand whose missing class is innermost moves least with the whole dimension. The tiles
    // of the other two share the capacity.
    double moved = 0, root_product = 1, largest_area = 1, weights = 0, held = 1;
    std::array<double, 2> at_ends{};
    std::size_t others = 0;
    for (std::size_t operand = 0; operand < 3; ++operand) {
      const auto lacks = static_cast<std::size_t>(lacking[operand]);
      const double at_end = weight[operand] / problem.extents[lacks];
      if (innermost[l] == lacking[operand]) {
        moved += at_end;
        if (operand < 2) held = problem.share[operand];
      } else {
        root_product *= weight[operand];
        largest_area *= problem.extents[lacks];
        at_ends[others++] = at_end;
        weights += at_end;
      }
    }
    const double area = std::min(problem.capacity[l] / held, largest_area);
    moved += std::max(weights, 2 * std::sqrt(root_product / area));
    slowest = std::max(slowest, moved * volume * problem.seconds_per_element[l + 1]);
  }
  return slowest;
}

std::vector<Relaxed> solve_best(const RelaxationProblem& problem, std::size_t keep, int& solved,
                                std::stop_token stop) {
  std::vector<int> classes;
  for (int c = 0; c < 3; ++c) {
    if (problem.extents[static_cast<std::size_t>(c)] >
        problem.smallest[static_cast<std::size_t>(c)]) {
      classes.push_back(c);
    }
  }
  if (classes.empty()) classes = {2};
  std::vector<std::pair<double, InnermostChoice>> choices;
  std::vector<std::size_t> digits(problem.capacity.size(), 0);
  for (bool more = true; more;) {
    InnermostChoice choice;
    for (std::size_t d : digits) choice.push_back(classes[d]);
    const double bound = quick_bound(problem, choice);
    choices.emplace_back(bound, std::move(choice));
    std::size_t l = 0;
    while (l < digits.size() && ++digits[l] == classes.size()) digits[l++] = 0;
    more = l < digits.size();
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });

  std::vector<Relaxed> best;
  solved = 0;
  for (const auto& [bound, choice] : choices) {
    if (stop.stop_requested()) throw Interrupted();
    if (best.size() >= keep && best[keep - 1].seconds <= bound * near_enough) break;
    Relaxed r = solve(problem, choice);
    ++solved;
    const auto place =
        std::upper_bound(best.begin(), best.end(), r,
                         [](const Relaxed& a, const Relaxed& b) { return a.seconds < b.seconds; });
    best.insert(place, std::move(r));
  }
  if (best.size() > keep) best.resize(keep);
  return best;
}

}  // namespace tcsim
