// How long a chain of contractions on disk takes to plan: random ones, drawn anew each time. Of up
// to seven contractions also what is lost where only some structures are looked at, as of longer
// ones.
//   bench_fuse [CONTRACTIONS [DRAWS [SEED]]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#include "chains/plan_chain.hpp"
#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "tests/core/fusion/chains.hpp"

namespace {

using namespace tcsim;
using fusion::OperationTree;

// Extents up to this, and tensors between these together.
constexpr int longest = 80;
constexpr double least_bytes = 1e8, most_bytes = 1e12;
// Of all tensors, what memory holds.
constexpr double least_share = 0.003, most_share = 0.5;

// How much longer the program takes where of each block some structures are kept.
double lost(const OperationTree& tree, const fusion::Limits& limits) {
  fusion::FuseOptions options{limits, {}};
  options.all_structures_up_to = tree.statements.size();
  const double all = fusion::chosen_program(tree, options).time.value();
  options.all_structures_up_to = 3;
  return fusion::chosen_program(tree, options).time.value() / all - 1;
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

double bytes_of(const OperationTree& tree) {
  double sum = 0;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) sum += tree.bytes(static_cast<int>(a));
  return sum;
}

// Every second one a single line of contractions, the others trees.
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

int run(int contractions, int draws, std::uint64_t seed) {
  const Machine machine = find_machine("zen5");
  std::mt19937_64 random(seed);
  fmt::print("{} chains of {} contractions, seed {}\n", draws, contractions, seed);
  std::vector<double> all, losses;
  for (int draw = 0; draw < draws; ++draw) {
    const OperationTree tree = drawn(random, contractions, draw);
    const double share = std::exp(
        std::uniform_real_distribution(std::log(least_share), std::log(most_share))(random));
    chains::ChainPlanOptions options;
    options.limits.memory =
        Bytes(std::max<std::int64_t>(static_cast<std::int64_t>(share * bytes_of(tree)), 32 << 20));
    const double begin = processor_seconds();
    try {
      const chains::ChainPlan plan = chains::plan_chain(tree, machine, options);
      all.push_back(processor_seconds() - begin);
      fmt::print("{:6.2f} s  {:7.1f} GB in {:7.3f} GB, {} cut-points, {:.1f} % above the bound\n",
                 all.back(), bytes_of(tree) / 1e9,
                 static_cast<double>(options.limits.memory.value()) / 1e9,
                 plan.fusion.chosen.cut_points.size(), 100 * plan.fusion.chosen.gap());
      std::fflush(stdout);
      if (contractions <= 7) losses.push_back(lost(tree, plan.limits));
    } catch (const UnsupportedError& e) {
      fmt::print("{:6.2f} s  {}\n", processor_seconds() - begin, e.what());
    }
  }
  if (all.empty()) return 1;
  std::ranges::sort(all);
  fmt::print("median {:.2f} s, worst {:.2f} s of processor time\n", all[all.size() / 2],
             all.back());
  if (losses.empty()) return 0;
  std::ranges::sort(losses);
  fmt::print("with some structures of each block alone: median {:.2f} %, worst {:.2f} % longer\n",
             100 * losses[losses.size() / 2], 100 * losses.back());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int contractions = argc > 1 ? std::atoi(argv[1]) : 5;
  const int draws = argc > 2 ? std::atoi(argv[2]) : 20;
  const std::uint64_t seed =
      argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::random_device{}();
  return run(contractions, draws, seed);
}
