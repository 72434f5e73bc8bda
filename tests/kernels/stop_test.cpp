// Everything that takes seconds with large tensors ends when it is asked to: here it was asked
// before it began, and is small.
#include "core/stop.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "kernels/execute.hpp"
#include "tests/groups.hpp"
#include "tests/kernels/build.hpp"

namespace tcsim {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 21;  // more than may go unasked

Plan plan_of(std::int64_t m, std::int64_t k) {
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = loop(DimClass::m, std::min<std::int64_t>(4, m), kernel(4, 1));
  return Plan(contraction("mn", "mk", "kn", {{'m', m}, {'n', 1}, {'k', k}}), s);
}

std::stop_token asked() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

TEST(Stop, A_scope_counts_for_its_thread_until_it_ends) {
  StopScope::heed();
  {
    const StopScope outer(asked());
    EXPECT_THROW(StopScope::heed(), Interrupted);
    {
      const StopScope inner(std::stop_token{});
      StopScope::heed();
    }
    EXPECT_THROW(StopScope::heed(), Interrupted);
  }
  StopScope::heed();
}

TEST(Stop, Is_asked_for_every_so_many_steps) {
  const StopScope scope(asked());
  StopCheck check(10);
  for (int i = 0; i < 9; ++i) check();
  EXPECT_EQ(check.most(), 1);
  EXPECT_THROW(check(), Interrupted);
  EXPECT_THROW(StopCheck(10)(25), Interrupted);
}

TEST(Stop, Tables_of_a_plan) {
  const StopScope scope(asked());
  const Plan plan = plan_of(large, 1);
  EXPECT_THROW(plan.offset_table(TensorId::A, DimClass::m), Interrupted);
  EXPECT_THROW(filled(large, 1), Interrupted);
}

TEST(Stop, Memory_that_is_touched) {
  const Plan plan = plan_of(4, 1);
  const StopScope scope(asked());
  EXPECT_THROW(Arena{plan}, Interrupted);
}

TEST(Stop, Inputs_that_are_filled) {
  const Plan plan = plan_of(large, 1);
  Arena arena(plan);
  const StopScope scope(asked());
  EXPECT_THROW(fill_inputs(arena, plan, 1), Interrupted);
}

TEST(Stop, Results_that_are_checked) {
  const Plan plan = plan_of(1, large);
  Arena arena(plan);
  const StopScope scope(asked());
  EXPECT_THROW(check_result(arena, plan, Elements(1), 1), Interrupted);
}

}  // namespace
}  // namespace tcsim
