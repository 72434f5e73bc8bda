// Bounds against the truth, on random small programs: contractions and convolutions with strides,
// batches and up to seven dimensions, by all ways to count C.
//
//   lower bound <= the least of all orders, found by search
//               <= the upper bound's schedule with an ideal store
//               <= the upper bound
#include <gtest/gtest.h>

#include "core/bounds/lower.hpp"
#include "core/bounds/upper.hpp"
#include "tests/core/bounds/random_nest.hpp"
#include "tests/core/random_program.hpp"
#include "tests/seed.hpp"

namespace tcsim::bounds {
namespace {

using test::OutputCost;
using test::Random;
using test::TinyNest;

struct Tally {
  int searched = 0, tight = 0, reached = 0, beyond_compulsory = 0;
};

void check_chain(const TinyNest& tiny, int capacity, OutputCost output, std::size_t most_states,
                 Tally& tally) {
  const std::string what = describe(tiny) + " in " + std::to_string(capacity) + ", C costs " +
                           std::to_string(output.first) + " and " + std::to_string(output.again);
  const Problem problem = to_problem(tiny, output.first != output.again);
  const Moves moves = output.again == 2 ? Moves::loads_and_stores : Moves::loads;
  const LowerNumber lower = lower_bound_at(problem, moves, capacity, sizes_of(problem));
  const auto low = static_cast<double>(lower.elements);
  const auto upper = upper_bound(to_nest(tiny, output), capacity);
  ASSERT_TRUE(upper) << what;
  const Nest& loops = upper->nest.nest;
  std::vector<int> permutation, tiles;
  for (DimId d : upper->tiling.permutation) permutation.push_back(index(d));
  for (std::int64_t t : upper->tiling.tiles) tiles.push_back(static_cast<int>(t));
  const auto run = ideal_cost(unroll(test::to_tiny(loops), permutation, tiles), capacity, output);
  ASSERT_TRUE(run) << what;
  ASSERT_LE(low, static_cast<double>(*run)) << what;
  // An ideal store is the best where all that is brought costs the same.
  if (output.again == 1) {
    ASSERT_LE(static_cast<double>(*run), upper->cost.moved) << what;
  }
  ASSERT_LE(low, upper->cost.moved) << what;
  if (lower.elements > lower.compulsory) ++tally.beyond_compulsory;
  if (most_states == 0) return;
  const auto least = least_cost(unroll(tiny), capacity, output, most_states);
  if (!least) return;
  ++tally.searched;
  ASSERT_LE(low, static_cast<double>(*least)) << what;
  ASSERT_LE(*least, *run) << what;
  ASSERT_LE(static_cast<double>(*least), upper->cost.moved) << what;
  if (low == static_cast<double>(*least)) ++tally.tight;
  if (static_cast<double>(*least) == upper->cost.moved) ++tally.reached;
}

constexpr OutputCost ways_to_count[] = {{1, 1}, {0, 1}, {2, 2}, {1, 2}};

TEST(Soundness, Bounds_enclose_the_least_of_all_orders) {
  Random random(tcsim::test::new_seed());
  Tally tally;
  for (int i = 0; i < 800; ++i) {
    SCOPED_TRACE(i);
    const TinyNest tiny = test::random_tiny_nest(random, random.between(8, 12), random.chance(80));
    check_chain(tiny, static_cast<int>(random.between(3, 6)), ways_to_count[random.between(0, 3)],
                20000, tally);
    if (HasFatalFailure()) return;
  }
  // The search has something to say, and the bounds are close to it.
  EXPECT_GT(tally.searched, 500);
  EXPECT_GT(tally.tight, 200);
  EXPECT_GT(tally.reached, 100);
}

TEST(Soundness, Bounds_enclose_what_schedules_move) {
  Random random(tcsim::test::new_seed());
  Tally tally;
  for (int i = 0; i < 1200; ++i) {
    SCOPED_TRACE(i);
    const TinyNest tiny =
        test::random_tiny_nest(random, random.between(50, 2000), random.chance(80), 9);
    check_chain(tiny, static_cast<int>(random.between(3, random.chance(50) ? 8 : 50)),
                ways_to_count[random.between(0, 3)], 0, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.beyond_compulsory, 400);
}

TEST(Soundness, Bounds_of_chains_enclose_each_other) {
  Random random(tcsim::test::new_seed());
  for (int i = 0; i < 150; ++i) {
    const Program program = test::random_program(random);
    const Problem problem = problem_of(program);
    const Moves moves = random.chance(50) ? Moves::loads : Moves::loads_and_stores;
    const std::int64_t capacity = random.between(3, 100);
    const auto upper = upper_bound(problem, moves, static_cast<double>(capacity));
    ASSERT_TRUE(upper);
    const LowerNumber lower = lower_bound_at(problem, moves, capacity, sizes_of(problem));
    ASSERT_LE(static_cast<double>(lower.elements), upper->moved)
        << to_text(program) << " in " << capacity;
  }
}

}  // namespace
}  // namespace tcsim::bounds
