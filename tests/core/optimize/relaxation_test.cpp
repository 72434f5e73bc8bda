#include "core/optimize/relaxation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/core/random_schedule.hpp"

namespace tcsim {
namespace {

// All innermost-loop choices for so many caches.
std::vector<InnermostChoice> choices(std::size_t levels) {
  std::vector<InnermostChoice> all{{}};
  for (std::size_t l = 0; l < levels; ++l) {
    std::vector<InnermostChoice> longer;
    for (const InnermostChoice& c : all) {
      for (int g = 0; g < 3; ++g) {
        longer.push_back(c);
        longer.back().push_back(g);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// One level, k innermost: C stays, A and B stream with 1/Tn + 1/Tm. The footprint Tm Tk + Tk Tn +
// Tm Tn <= C is best used with Tk = 1 and Tm = Tn = T, T^2 + 2 T = C: for C = 14640, T = 120.
TEST(Relaxation, Finds_the_square_tile_of_a_matrix_multiplication) {
  RelaxationProblem p;
  p.extents = {1e4, 1e4, 1e4};
  p.smallest = {1, 1, 1};
  p.capacity = {14640};
  p.seconds_per_element = {0, 1};
  p.seconds_per_element[0] = 1e-9;  // registers do not matter
  const Relaxed r = solve(p, {2});
  EXPECT_NEAR(r.tiles[0][0], 120, 0.5);
  EXPECT_NEAR(r.tiles[0][1], 120, 0.5);
  EXPECT_NEAR(r.tiles[0][2], 1, 0.01);
  EXPECT_NEAR(r.seconds, 1e12 * 2 / 120 + 2e8, 1e12 * 1e-5);
}

TEST(Relaxation, Is_not_beaten_by_any_feasible_point) {
  std::mt19937 random(7);
  SCOPED_TRACE("seed 7");
  std::uniform_real_distribution<double> uniform(0, 1);
  RelaxationProblem p;
  p.extents = {500, 3000, 700};
  p.smallest = {8, 6, 1};
  p.capacity = {4096, 32768};
  p.seconds_per_element = {1, 2, 4};
  for (const InnermostChoice& choice : choices(2)) {
    const Relaxed best = solve(p, choice);
    EXPECT_TRUE(best.solved);
    EXPECT_GE(best.seconds, quick_bound(p, choice) * (1 - 1e-9));
    const auto moved = [&](const RealTile& t, const RealTile& outer, int innermost) {
      const double v = p.extents[0] * p.extents[1] * p.extents[2];
      return v / (innermost == 1 ? outer[1] : t[1]) + v / (innermost == 0 ? outer[0] : t[0]) +
             2 * v / (innermost == 2 ? outer[2] : t[2]);
    };
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<RealTile> tiles(2);
      RealTile outer = p.extents;
      for (int l = 1; l >= 0; --l) {
        for (std::size_t c = 0; c < 3; ++c) {
          tiles[static_cast<std::size_t>(l)][c] =
              p.smallest[c] * std::pow(outer[c] / p.smallest[c], uniform(random));
        }
        outer = tiles[static_cast<std::size_t>(l)];
      }
      bool fits = true;
      for (std::size_t l = 0; l < 2; ++l) {
        const RealTile& t = tiles[l];
        fits = fits && t[0] * t[2] + t[2] * t[1] + t[0] * t[1] <= p.capacity[l];
      }
      if (!fits) continue;
      const double core = p.extents[0] * p.extents[1] * p.extents[2] *
                          (1 / p.smallest[0] + 1 / p.smallest[1] + 1 / tiles[0][2]);
      const double seconds = std::max({core, 2 * moved(tiles[0], tiles[1], best.innermost[0]),
                                       4 * moved(tiles[1], p.extents, best.innermost[1])});
      EXPECT_GE(seconds, best.seconds * (1 - 2e-3));
    }
  }
}

// Pruning may not lose the optimum: against all 27 choices, on problems where different links
// decide.
TEST(Relaxation, Pruned_choices_are_no_better_than_the_best) {
  test::Random random(3);
  SCOPED_TRACE("seed 3");
  int pruned = 0;
  for (int trial = 0; trial < 20; ++trial) {
    RelaxationProblem p;
    for (double& extent : p.extents) extent = static_cast<double>(random.between(1, 3000));
    p.smallest = {8, 6, 1};
    p.capacity = {4096, 32768, 4e6};
    double seconds = 1;
    for (int link = 0; link < 4; ++link) {
      seconds *= static_cast<double>(random.between(10, 100)) / 10;
      p.seconds_per_element.push_back(seconds);
    }
    double best = HUGE_VAL;
    for (const InnermostChoice& choice : choices(3))
      best = std::min(best, solve(p, choice).seconds);
    int solved = 0;
    const std::vector<Relaxed> kept = solve_best(p, 2, solved);
    pruned += 27 - solved;
    ASSERT_GE(kept.size(), 1);
    EXPECT_LE(kept.front().seconds, best * 1.011);  // solve_best() looks no further than 1 %
    EXPECT_GE(kept.front().seconds, best * (1 - 1e-3));
  }
  EXPECT_GT(pruned, 100);
}

}  // namespace
}  // namespace tcsim
