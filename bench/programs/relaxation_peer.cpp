// The tile-size problem of the relaxation, one choice of innermost loops at a time, handed to a
// general interior-point solver (Ipopt): it must not find a better objective anywhere on TCCG, and
// takes the time that it takes.
//
//     build/release/bench/programs/bench_relaxation_peer [MACHINE...]     e5-2680v4, i7-6700k if
//     none is named
#include <fmt/format.h>

#include <IpIpoptApplication.hpp>
#include <IpTNLP.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "core/machine/toml.hpp"
#include "core/optimize/posynomial.hpp"
#include "core/optimize/relaxation.hpp"
#include "core/optimize/tiling.hpp"
#include "core/workload/suite.hpp"

namespace {

using namespace tcsim;
using Ipopt::Index;
using Ipopt::Number;

// As core/optimize/relaxation.hpp states it, written down a second time: minimise t with
// log time_i(y) <= t, log footprint_l(y) <= 0 and tiles that nest, y = log tile sizes.
class Problem : public Ipopt::TNLP {
 public:
  Problem(const RelaxationProblem& p, const InnermostChoice& innermost)
      : p_(p), levels_(static_cast<int>(p.capacity.size())) {
    const double volume = p.extents[0] * p.extents[1] * p.extents[2];
    const double core = volume * p.seconds_per_element[0];
    Posynomial registers;
    registers.add(core / std::min(p.smallest[1], p.extents[1]), {});
    registers.add(core / std::min(p.smallest[0], p.extents[0]), {});
    registers.add(core, {{2, -1}});
    rows_.push_back(registers);
    const int lacking[3] = {1, 0, 2};
    const double weight[3] = {1, 1, p.output_weight};
    for (int l = 0; l < levels_; ++l) {
      Posynomial time;
      for (int operand = 0; operand < 3; ++operand) {
        const int lacks = lacking[operand];
        const int reach = innermost[static_cast<std::size_t>(l)] == lacks ? l + 1 : l;
        const double moved =
            weight[operand] * volume * p.seconds_per_element[static_cast<std::size_t>(l) + 1];
        if (reach == levels_) {
          time.add(moved / p.extents[static_cast<std::size_t>(lacks)], {});
        } else {
          time.add(moved, {{3 * reach + lacks, -1}});
        }
      }
      rows_.push_back(time);
    }
    times_ = static_cast<int>(rows_.size());
    for (int l = 0; l < levels_; ++l) {
      Posynomial footprint;
      const double share = 1 / p.capacity[static_cast<std::size_t>(l)];
      footprint.add(share, {{3 * l, 1}, {3 * l + 2, 1}});
      footprint.add(share, {{3 * l + 1, 1}, {3 * l + 2, 1}});
      footprint.add(share, {{3 * l, 1}, {3 * l + 1, 1}});
      rows_.push_back(footprint);
    }
  }

  double log_time = HUGE_VAL;

  bool get_nlp_info(Index& n, Index& m, Index& nonzeros, Index& hessian,
                    IndexStyleEnum& style) override {
    n = variables();
    m = constraints();
    nonzeros = n * m;
    hessian = 0;
    style = TNLP::C_STYLE;
    return true;
  }
  bool get_bounds_info(Index n, Number* low, Number* high, Index m, Number* least,
                       Number* most) override {
    for (Index v = 0; v + 1 < n; ++v) {
      const auto c = static_cast<std::size_t>(v % 3);
      low[v] = std::log(std::min(p_.smallest[c], p_.extents[c]));
      high[v] = std::log(p_.extents[c]);
    }
    low[n - 1] = p_.least_seconds > 0 ? std::log(p_.least_seconds) : -100;
    high[n - 1] = 100;
    std::fill_n(least, m, -1e19);
    std::fill_n(most, m, 0.0);
    return true;
  }
  bool get_starting_point(Index n, bool, Number* y, bool, Number*, Number*, Index, bool,
                          Number*) override {
    for (Index v = 0; v + 1 < n; ++v) {
      const auto c = static_cast<std::size_t>(v % 3);
      const double side = std::log(p_.capacity[static_cast<std::size_t>(v / 3)] / 6) / 2;
      y[v] = std::clamp(side, std::log(std::min(p_.smallest[c], p_.extents[c])),
                        std::log(p_.extents[c]));
    }
    y[n - 1] = 0;
    return true;
  }
  bool eval_f(Index n, const Number* y, bool, Number& value) override {
    value = y[n - 1];
    return true;
  }
  bool eval_grad_f(Index n, const Number*, bool, Number* gradient) override {
    std::fill_n(gradient, n, 0.0);
    gradient[n - 1] = 1;
    return true;
  }
  bool eval_g(Index n, const Number* y, bool, Index, Number* g) override {
    const Eigen::Map<const Eigen::VectorXd> point(y, n);
    int row = 0;
    for (const Posynomial& p : rows_) {
      g[row] = p.log_value(point) - (row < times_ ? y[n - 1] : 0);
      ++row;
    }
    for (int v = 0; v < 3 * (levels_ - 1); ++v) g[row++] = y[v] - y[v + 3];
    return true;
  }
  bool eval_jac_g(Index n, const Number* y, bool, Index m, Index, Index* row_of, Index* column_of,
                  Number* values) override {
    if (values == nullptr) {
      for (Index i = 0; i < n * m; ++i) {
        row_of[i] = i / n;
        column_of[i] = i % n;
      }
      return true;
    }
    std::fill_n(values, n * m, 0.0);
    const Eigen::Map<const Eigen::VectorXd> point(y, n);
    int row = 0;
    for (const Posynomial& p : rows_) {
      p.log_value(point, values + row * n);
      if (row < times_) values[row * n + n - 1] -= 1;
      ++row;
    }
    for (int v = 0; v < 3 * (levels_ - 1); ++v, ++row) {
      values[row * n + v] = 1;
      values[row * n + v + 3] = -1;
    }
    return true;
  }
  void finalize_solution(Ipopt::SolverReturn, Index n, const Number* y, const Number*,
                         const Number*, Index m, const Number* g, const Number*, Number,
                         const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    if (*std::max_element(g, g + m) < 1e-5) log_time = y[n - 1];
  }

 private:
  int variables() const { return 3 * levels_ + 1; }
  int constraints() const { return static_cast<int>(rows_.size()) + 3 * (levels_ - 1); }

  const RelaxationProblem& p_;
  int levels_, times_ = 0;
  std::vector<Posynomial> rows_;
};

RelaxationProblem problem_of(const Contraction& c, const Machine& m) {
  RelaxationProblem p;
  const Bytes element = size_of(c.type());
  const Kernel kernel = kernel_choices(m.core, c.type()).front();
  for (std::size_t g = 0; g < 3; ++g) {
    p.extents[g] = static_cast<double>(c.extent(all_dim_classes[g]).value());
  }
  p.smallest = {static_cast<double>(kernel.mr.value()), static_cast<double>(kernel.nr.value()), 1};
  for (std::size_t l = 0; l < m.levels.size(); ++l) {
    p.seconds_per_element.push_back((element / m.bandwidth(LevelId{static_cast<int>(l)})).value());
    if (static_cast<int>(l) < m.cache_count()) {
      p.capacity.push_back(static_cast<double>(m.levels[l].capacity.value / element));
    }
  }
  return p;  // no compute roof: it would hide the links
}

void compare(const Machine& machine, Ipopt::IpoptApplication& ipopt) {
  using Clock = std::chrono::steady_clock;
  double ours = 0, theirs = 0, best_for_ipopt = 0, best_for_us = 0;
  int problems = 0, unsolved = 0;
  for (const Contraction& c : find_suite("tccg").workloads) {
    const RelaxationProblem p = problem_of(c, machine);
    for (int i = 0; i < 27; ++i) {
      const InnermostChoice choice{i % 3, i / 3 % 3, i / 9};
      auto begin = Clock::now();
      const double our = std::log(solve(p, choice).seconds);
      ours += std::chrono::duration<double>(Clock::now() - begin).count();
      Ipopt::SmartPtr<Problem> peer = new Problem(p, choice);
      begin = Clock::now();
      ipopt.OptimizeTNLP(peer);
      theirs += std::chrono::duration<double>(Clock::now() - begin).count();
      ++problems;
      if (peer->log_time == HUGE_VAL) {
        ++unsolved;
        continue;
      }
      best_for_ipopt = std::max(best_for_ipopt, our - peer->log_time);
      best_for_us = std::max(best_for_us, peer->log_time - our);
    }
  }
  fmt::print(
      "{:<12} {} problems, {} that Ipopt did not solve; Ipopt better by at most {:.4f} %, worse "
      "by at most {:.2f} %; NLopt {:.0f} us, Ipopt {:.0f} us a problem, ratio {:.0f}\n",
      machine.name, problems, unsolved, 100 * best_for_ipopt, 100 * best_for_us,
      1e6 * ours / problems, 1e6 * theirs / problems, theirs / ours);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"e5-2680v4", "i7-6700k"};
  Ipopt::SmartPtr<Ipopt::IpoptApplication> ipopt = IpoptApplicationFactory();
  ipopt->Options()->SetStringValue("hessian_approximation", "limited-memory");
  ipopt->Options()->SetIntegerValue("print_level", 0);
  ipopt->Options()->SetStringValue("sb", "yes");
  ipopt->Options()->SetNumericValue("tol", 1e-8);
  ipopt->Options()->SetIntegerValue("max_iter", 1000);
  if (ipopt->Initialize() != Ipopt::Solve_Succeeded) return 1;
  for (const std::string& name : names) compare(find_machine(name), *ipopt);
}
