// Chains inside caches, predicted and simulated: random chains of two or three contractions whose
// intermediates have from as many bytes as the innermost cache up to three times the outermost one.
// Prints how far predicted bytes of each link are from the simulated ones, and how often the choice
// between fused and unfused is that with less simulated time. A difference of 1 % or less counts as
// right whatever was chosen.
//
//     TCSIM_CHAINS=100 build/ci/tests/validation/cached_chains_tests
//
// draws so many, anew each time; with TCSIM_SEED the same again, with TCSIM_VERBOSE each of them.
// With TCSIM_OTHERS=10 so many fused programs with random tiles are simulated for each chain: what
// the search may have missed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "core/fusion/cached_choice.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "core/workload/program.hpp"
#include "sim/simulate_chain.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using fusion::CachedChoice;
using fusion::CachedModel;
using fusion::CachedProgram;
using fusion::LeafSchedules;
using fusion::OperationTree;
using test::Random;

constexpr double equal_times = 0.01;

// Small caches, so that chains of a few hundred kilobytes do not fit.
Machine smaller(const std::string& name, const std::vector<std::string>& sets) {
  Machine m = find_machine(name);
  for (const std::string& s : sets) m = override_knob(m, s).machine;
  return m;
}

std::int64_t real_between(Random& random, double low, double high) {
  const double share = static_cast<double>(random.between(0, 1 << 20)) / (1 << 20);
  return std::llround(low * std::pow(high / low, share));
}

// T += A B and C += T D, perhaps E += C F; operands with their axes in either order, each with a
// batch index or none. T has about so many bytes.
std::string random_chain(Random& random, double least, double most) {
  const bool batch = random.chance(25), three = random.chance(40);
  const std::int64_t b = batch ? random.between(2, 8) : 1;
  const std::int64_t elements = real_between(random, least / 8, most / 8) / b;  // of one batch's T
  const double side = std::sqrt(static_cast<double>(elements));
  const std::int64_t i = std::max<std::int64_t>(8, real_between(random, side / 4, side * 4));
  const std::int64_t j = std::max<std::int64_t>(8, elements / i);
  std::string text = "program drawn\ndims ";
  if (batch) text += fmt::format("b={} ", b);
  text += fmt::format("i={} j={} k={} l={}", i, j, real_between(random, 8, 256),
                      real_between(random, 8, 256));
  if (three) text += fmt::format(" o={}", real_between(random, 8, 256));
  text += "\n";
  const auto tensor = [&](const std::string& name, std::string x, std::string y) {
    if (random.chance(30)) std::swap(x, y);
    return name + "[" + (batch ? "b, " : "") + x + ", " + y + "]";
  };
  const std::string A = tensor("A", "i", "k"), B = tensor("B", "k", "j");
  const std::string D = tensor("D", "j", "l"), F = tensor("F", "l", "o");
  const std::string T = tensor("T", "i", "j"), C = tensor("C", "i", "l"), E = tensor("E", "i", "o");
  for (const std::string& input : {A, B, D}) text += "f64 input " + input + "\n";
  if (three) text += "f64 input " + F + "\n";
  text += "f64 intermediate " + T + "\n";
  text += (three ? "f64 intermediate " : "f64 output ") + C + "\n";
  if (three) text += "f64 output " + E + "\n";
  text += fmt::format("{} += {} * {}\n{} += {} * {}\n", T, A, B, C, T, D);
  if (three) text += fmt::format("{} += {} * {}\n", E, C, F);
  return text;
}

class Errors {
 public:
  void add(double predicted, double simulated) {
    all_.push_back(std::abs(predicted / simulated - 1));
  }
  std::string text() {
    std::ranges::sort(all_);
    const auto nth = [&](double share) {
      const auto n = std::ceil(share * static_cast<double>(all_.size())) - 1;
      return 100 * all_[static_cast<std::size_t>(std::max(0.0, n))];
    };
    return fmt::format("median {:.2f} %, 90th percentile {:.1f} %, worst {:.0f} %", nth(0.5),
                       nth(0.9), nth(1));
  }

 private:
  std::vector<double> all_;
};

// Of this processor, whatever else it does.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void random_tiles(Random& random, fusion::TiledTree& tiled, std::vector<std::int64_t> ranges) {
  for (std::size_t i = tiled.loops.size(); i > 1; --i) {
    std::swap(
        tiled.loops[i - 1],
        tiled.loops[static_cast<std::size_t>(random.between(0, std::ssize(tiled.loops))) % i]);
  }
  for (fusion::TiledTree::Loop& l : tiled.loops) {
    std::int64_t& range = ranges[static_cast<std::size_t>(l.index)];
    l.tile = real_between(random, std::min<double>(8, static_cast<double>(range)),
                          static_cast<double>(range));
    range = l.tile;
  }
  for (fusion::TiledTree& part : tiled.parts) random_tiles(random, part, ranges);
}

class Drawn {
 public:
  void run(const std::string& text, const Machine& machine, bool verbose, Random& random,
           int others) {
    const OperationTree tree = fusion::operation_tree(parse_program(text, "drawn"));
    LeafSchedules schedules(tree, machine);
    CachedModel model(schedules);
    const double begin = now();
    const CachedChoice choice = fusion::choose_cached(model);
    longest_ = std::max(longest_, now() - begin);
    ASSERT_TRUE(choice.fused) << text;
    if (verbose) std::cout << text << machine.name << "\n";
    const double apart = simulated(choice.unfused, schedules, unfused_, verbose);
    const double fused = simulated(*choice.fused, schedules, fused_, verbose);
    if (verbose) std::cout << (choice.fuses() ? "  fuse" : "  do not fuse");
    ++all_;
    double least = HUGE_VAL;
    for (int i = 0; i < others; ++i) {
      least = std::min(least, seconds_of_another(schedules, random));
    }
    missed_ += least < fused * (1 - 2 * equal_times);
    most_missed_ = std::max(most_missed_, fused / least - 1);
    if (std::abs(apart / fused - 1) <= equal_times) {
      ++ties_;
      if (verbose) std::cout << ": a tie\n";
      return;
    }
    const bool is_right = choice.fuses() == (fused < apart);
    right_ += is_right;
    fuse_ += fused < apart;
    if (verbose) std::cout << (is_right ? "\n" : ": WRONG\n");
  }

  void print() {
    std::cout << fmt::format(
        "{} chains: the choice is right in {}, of which {} are ties; of the others fusing is "
        "quicker in {} and the choice right in {} of {}\n"
        "bytes of links, unfused: {}\nbytes of links, fused:   {}\n"
        "times, all:              {}\nlongest choice {:.2f} s of processor time\n",
        all_, right_ + ties_, ties_, fuse_, right_, all_ - ties_, unfused_.text(), fused_.text(),
        times_.text(), longest_);
    if (most_missed_ > -1) {
      std::cout << fmt::format(
          "a random fused program is more than 2 % quicker in {} of {}, by {:.0f} % at most\n",
          missed_, all_, 100 * most_missed_);
    }
  }
  int all() const { return all_; }

 private:
  double simulated(const CachedProgram& p, LeafSchedules& schedules, Errors& errors, bool verbose) {
    const OperationTree& tree = schedules.tree();
    const Machine& machine = schedules.machine();
    const ChainSimulation s = simulate_chain(p.node, schedules);
    const double seconds = timing(s.traffic, tree, machine).total.value();
    times_.add(p.timing.total.value(), seconds);
    if (verbose) {
      std::cout << fmt::format("  {:.2f} us, simulated {:.2f} us;", p.timing.total.value() * 1e6,
                               seconds * 1e6);
    }
    for (int l = 0; l < static_cast<int>(machine.levels.size()); ++l) {
      const auto predicted = p.traffic.counted(machine.accounting, l);
      const auto counted = s.traffic.counted(machine.accounting, l);
      if (l == 0) {
        // What the core loads and stores is exact.
        EXPECT_EQ(predicted, counted);
        continue;
      }
      errors.add(static_cast<double>(predicted.value()), static_cast<double>(counted.value()));
      if (verbose) std::cout << fmt::format(" {} {}", predicted.value(), counted.value());
    }
    if (verbose) std::cout << "\n" << to_text(tree, p.node);
    return seconds;
  }

  static double seconds_of_another(LeafSchedules& schedules, Random& random) {
    const OperationTree& tree = schedules.tree();
    std::vector<fusion::TiledTree> structures = fusion::cached_structures(tree);
    fusion::TiledTree tiled =
        structures[static_cast<std::size_t>(random.between(1, std::ssize(structures) - 1))];
    std::vector<std::int64_t> ranges;
    for (const OperationTree::Index& i : tree.indices) ranges.push_back(i.extent);
    random_tiles(random, tiled, ranges);
    const ChainSimulation s = simulate_chain(to_node(tree, tiled), schedules);
    return timing(s.traffic, tree, schedules.machine()).total.value();
  }

  int all_ = 0, ties_ = 0, right_ = 0, fuse_ = 0, missed_ = 0;
  double most_missed_ = -1;
  double longest_ = 0;
  Errors unfused_, fused_, times_;
};

TEST(Chains_in_caches, Choice_and_traffic_of_random_chains) {
  Random random(test::new_seed());
  const char* count = std::getenv("TCSIM_CHAINS");
  const int chains = count ? std::atoi(count) : 20;
  const char* others = std::getenv("TCSIM_OTHERS");
  std::vector<Machine> machines{
      smaller("i7-6700k", {"L1.capacity=8KiB", "L2.capacity=32KiB", "L3.capacity=256KiB"}),
      smaller("zen5", {"L1.capacity=12KiB", "L2.capacity=64KiB", "L3.capacity=512KiB"})};
  // The same with an eighth of the memory's bandwidth, as where other cores are at work too.
  for (int m = 0; m < 2; ++m) {
    machines.push_back(machines[static_cast<std::size_t>(m)]);
    machines.back() = override_knob(machines.back(), "memory.bandwidth=0.125x").machine;
  }
  Drawn drawn;
  for (int n = 0; n < chains; ++n) {
    const Machine& machine = machines[static_cast<std::size_t>(n) % machines.size()];
    const auto least = static_cast<double>(machine.levels[0].capacity.value.value());
    const auto most = 3 * static_cast<double>(machine.levels[2].capacity.value.value());
    drawn.run(random_chain(random, least, most), machine, std::getenv("TCSIM_VERBOSE") != nullptr,
              random, others ? std::atoi(others) : 0);
  }
  drawn.print();
  EXPECT_EQ(drawn.all(), chains);
}

}  // namespace
}  // namespace tcsim
