// How far the prescription for explicit levels is from the optimum, and how near its bound is: the
// expressions of multilevel-fusion-gpu at several sizes, and random chains, drawn anew each time.
//   bench_levels [CONTRACTIONS [DRAWS [SEED]]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/levels/plan.hpp"
#include "core/machine/toml.hpp"
#include "tests/core/fusion/chains.hpp"

namespace {

using namespace tcsim;
using levels::Hierarchy;
using levels::LevelOptimum;
using levels::LevelPlan;
using levels::OperationTree;

// Extents up to this, and tensors between these together.
constexpr int longest = 150;
constexpr double least_bytes = 1e9, most_bytes = 1e13;

double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

double bytes_of(const OperationTree& tree) {
  double sum = 0;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) sum += tree.bytes(static_cast<int>(a));
  return sum;
}

OperationTree drawn(std::mt19937_64& random, int contractions, int draw) {
  for (;;) {
    try {
      OperationTree tree = fusion::operation_tree(
          fusion::random_chain_program(random, contractions, longest, draw % 2 == 1));
      const double bytes = bytes_of(tree);
      if (bytes >= least_bytes && bytes <= most_bytes) return tree;
    } catch (const Error&) {
      // Too large.
    }
  }
}

// The machine's bandwidths, each from a tenth of its own to ten times that; of all tensors the
// global memory holds a share between these, and a process the same of its part of that.
constexpr double least_share = 0.003, most_share = 0.5;
constexpr std::int64_t least_capacity = 32 << 20;
Hierarchy varied(Hierarchy h, double bytes, std::mt19937_64& random) {
  const auto draw = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
  };
  for (int l = h.links() - 1; l >= 0; --l) {
    Hierarchy::Level& level = h.levels[static_cast<std::size_t>(l)];
    bytes *= draw(least_share, most_share) / static_cast<double>(level.instances);
    level.capacity = Bytes(std::max(static_cast<std::int64_t>(bytes), least_capacity));
    level.bandwidth = draw(0.1, 10) * level.bandwidth;
  }
  return h;
}

struct Seen {
  std::vector<double> above, gap, optimum_seconds, prescription_seconds;
  int same_fusion = 0;

  void add(const LevelPlan& prescription, const LevelOptimum& optimum) {
    above.push_back(100 * (prescription.time() / optimum.plan.time() - 1));
    gap.push_back(100 * optimum.gap());
    same_fusion += prescription.homes == optimum.plan.homes;
  }
  static double share(std::vector<double> of, double quantile) {
    std::ranges::sort(of);
    return of[static_cast<std::size_t>(quantile * static_cast<double>(of.size() - 1))];
  }
};

void plan(const std::string& name, const OperationTree& tree, const Hierarchy& h, Seen& seen) {
  const double begin = processor_seconds();
  const LevelPlan prescription = levels::prescribe(tree, h);
  const double between = processor_seconds();
  const LevelOptimum optimum = levels::optimum(tree, h);
  seen.prescription_seconds.push_back(between - begin);
  seen.optimum_seconds.push_back(processor_seconds() - between);
  seen.add(prescription, optimum);
  fmt::print(
      "{:16} {:8.4g} GB  optimum {:9.4g} s, {:6.2f} % above its bound; prescription {:6.2f} "
      "% above it{}; {:.2f} ms and {:.2f} s\n",
      name, bytes_of(tree) / 1e9, optimum.plan.time().value(), seen.gap.back(), seen.above.back(),
      prescription.homes == optimum.plan.homes ? "" : ", fused otherwise",
      1e3 * seen.prescription_seconds.back(), seen.optimum_seconds.back());
  std::fflush(stdout);
}

int run(int contractions, int draws, std::uint64_t seed) {
  const Hierarchy cluster = levels::hierarchy(find_machine("gpu-cluster-node"), Bytes(8));
  const std::pair<int, std::vector<int>> expressions[] = {{1, {24, 32, 40, 48, 64}},
                                                          {2, {24, 32, 40, 48, 64}},
                                                          {3, {8, 12, 16, 20}},
                                                          {4, {24, 32, 40, 44, 48, 56}},
                                                          {5, {64, 128, 256, 400}}};
  Seen known;
  for (const auto& [number, sizes] : expressions) {
    OperationTree tree = fusion::operation_tree(
        fusion::find_chain({fmt::format("multilevel:{}", number), "", {}, ""}).program);
    for (int n : sizes) {
      for (OperationTree::Index& i : tree.indices) i.extent = n;
      plan(fmt::format("{} N={}", "ABCDE"[number - 1], n), tree, cluster, known);
    }
  }
  std::mt19937_64 random(seed);
  fmt::print("{} chains of {} contractions, seed {}\n", draws, contractions, seed);
  Seen seen;
  for (int draw = 0; draw < draws; ++draw) {
    const OperationTree tree = drawn(random, contractions, draw);
    const Hierarchy h = varied(cluster, bytes_of(tree), random);
    try {
      plan(fmt::format("draw {}", draw + 1), tree, h, seen);
    } catch (const UnsupportedError& e) {
      fmt::print("draw {}: {}\n", draw + 1, e.what());
    }
  }
  for (const Seen* s : {&known, &seen}) {
    if (s->above.empty()) continue;
    fmt::print(
        "{}: prescription above the optimum: median {:.2f} %, nine of ten {:.2f} %, worst "
        "{:.2f} %; fused alike {} of {}; optimum above its bound: median {:.2f} %, nine of "
        "ten {:.2f} %, worst {:.2f} %; processor time median {:.2f} ms and {:.2f} s, worst "
        "{:.2f} ms and {:.2f} s\n",
        s == &known ? "A to E" : "drawn", Seen::share(s->above, 0.5), Seen::share(s->above, 0.9),
        Seen::share(s->above, 1), s->same_fusion, s->above.size(), Seen::share(s->gap, 0.5),
        Seen::share(s->gap, 0.9), Seen::share(s->gap, 1),
        1e3 * Seen::share(s->prescription_seconds, 0.5), Seen::share(s->optimum_seconds, 0.5),
        1e3 * Seen::share(s->prescription_seconds, 1), Seen::share(s->optimum_seconds, 1));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int contractions = argc > 1 ? std::atoi(argv[1]) : 3;
  const int draws = argc > 2 ? std::atoi(argv[2]) : 20;
  const std::uint64_t seed =
      argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::random_device{}();
  return run(contractions, draws, seed);
}
