#include "core/optimize/search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/core/build.hpp"
#include "tests/groups.hpp"

namespace tcsim {
namespace {

// Links that take 3 s and 1 s beside 2 s of computation.
Prediction three_seconds() {
  Prediction p;
  p.timing.links = {Seconds(3), Seconds(1)};
  p.timing.compute = Seconds(2);
  p.timing.total = Seconds(3);
  return p;
}

TEST(Cost, Is_the_slowest_or_the_sum_of_the_links) {
  const Machine m = test::machine({{64, 8}});
  EXPECT_EQ(cost(three_seconds(), m, Objective::time), 3);
  EXPECT_EQ(cost(three_seconds(), m, Objective::sum), 4);
}

TEST(Score, Takes_the_slowest_in_small_steps_and_the_others_in_large_ones) {
  const Contraction c = test::matmul(16, 16, 16);
  const Schedule s = test::schedule("groups m=j n=i k=k for n by 4 { for m by 8 { kernel 8x4 } }");
  const Machine m = test::machine({{64, 8}});
  // ln 3 = 1.0986 in steps of 0.001; ln 2 = 0.693 and ln 1 in steps of 0.2; the links' sum.
  EXPECT_EQ(score(c, s, three_seconds(), m, {}), (Score{1099, 3, 0, 4}));
  OptimizeOptions sum;
  sum.objective = Objective::sum;
  EXPECT_EQ(score(c, s, three_seconds(), m, sum), Score{4});
}

TEST(Score, Counts_what_the_core_loses_where_some_of_it_was_measured_or_it_is_to_run) {
  const Contraction c = test::matmul(16, 16, 16);
  const Schedule s = test::schedule("groups m=j n=i k=k for n by 4 { for m by 8 { kernel 8x4 } }");
  Machine assumed = test::machine({{64, 8}});
  assumed.core.overhead.call.value = Cycles(1e10);
  const auto of = [&](const Machine& m, const OptimizeOptions& how) {
    return score(c, s, three_seconds(), m, how);
  };
  // At 1 GHz, its 8 calls, which are noted and take a tenth, take longer than the slowest link, and
  // computing 3 % more time.
  const double core = std::round(std::log(2 * 1.03 + 8) / 1e-3);
  const Score with{core, core, 4};
  EXPECT_EQ(of(assumed, {}).front(), 1099);
  for (auto field : {&Overhead::pack, &Overhead::piece, &Overhead::task, &Overhead::call}) {
    Machine measured = assumed;
    (measured.core.overhead.*field).origin = Origin::measured;
    EXPECT_EQ(of(measured, {}), with);
  }
  EXPECT_EQ(of(assumed, for_running()), with);
}

class Small_search : public testing::Test {
 protected:
  // A tile of so many of m, n and k in L1, of 4 KiB.
  Tiling tiles_of(std::int64_t wanted) const {
    Tiling t;
    t.groups = test::groups(contraction_, {"j", "i", "k", ""});
    t.kernel = kernel_choices(machine_.core, contraction_.type()).front();
    t.tiles = {{wanted, wanted, wanted}};
    t.orders = {{DimClass::k, DimClass::n, DimClass::m}};
    snap(contraction_, Bytes(64), t);
    return t;
  }
  Score score_of(const Tiling& t) const {
    const Schedule s = build(contraction_, machine_, t);
    return score(contraction_, s, predict(contraction_, s, machine_), machine_, options_);
  }

  const Contraction contraction_ = test::matmul(96, 96, 96);
  const Machine machine_ = test::machine({{8, 8}});
  const OptimizeOptions options_;
  Search search_{contraction_, machine_, options_, RowOrders::neighbours, {}, {}};
};

TEST_F(Small_search, Has_no_best_before_one_is_judged) {
  EXPECT_THROW(search_.best(), std::logic_error);
}

TEST_F(Small_search, Keeps_the_better_one_of_what_it_judges) {
  const Tiling small = tiles_of(8), whole = tiles_of(96);
  ASSERT_NE(score_of(small), score_of(whole));
  search_.judge(small);
  EXPECT_EQ(search_.best(), small);
  search_.judge(whole);
  EXPECT_EQ(search_.evaluated(), 2);
  EXPECT_EQ(search_.best(), score_of(small) < score_of(whole) ? small : whole);
}

TEST_F(Small_search, Judges_coarsely_without_keeping) {
  const Tiling start = tiles_of(96);
  const Score coarse = search_.judge_coarsely(start);
  EXPECT_EQ(coarse, search_.judge_coarsely(start));
  EXPECT_EQ(search_.evaluated(), 1);
  EXPECT_THROW(search_.best(), std::logic_error);
}

TEST_F(Small_search, Goes_downhill_from_where_it_starts) {
  const Tiling start = tiles_of(96);
  search_.descend_in_full(start, 20);
  EXPECT_LT(score_of(search_.best()), score_of(start));
  EXPECT_GT(search_.evaluated(), 1);
  EXPECT_TRUE(search_.has_groups(search_.best().groups));
}

}  // namespace
}  // namespace tcsim
