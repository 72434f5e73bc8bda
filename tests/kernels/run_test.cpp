#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "core/error.hpp"
#include "kernels/execute.hpp"
#include "kernels/instruction_set.hpp"
#include "tests/arrays.hpp"
#include "tests/groups.hpp"
#include "tests/kernels/build.hpp"

namespace tcsim {
namespace {

Plan matrix_product(std::int64_t extent) {
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  s.root = pack(TensorId::B, "L3",
                pack(TensorId::A, "L2", loop(DimClass::n, 6, loop(DimClass::m, 4, kernel(4, 6)))));
  return Plan(contraction("mn", "mk", "kn", {{'m', extent}, {'n', extent}, {'k', extent}}), s);
}

TEST(Run, Measures_and_checks_every_repetition) {
  const RunResult result = run(matrix_product(50), {.repeat = 3});
  ASSERT_EQ(result.repetitions.size(), 3);
  for (const Repetition& r : result.repetitions) {
    EXPECT_GT(r.wall.value(), 0);
    EXPECT_GT(r.processor.value(), 0);
  }
  EXPECT_EQ(result.timed.median, time_of(result.repetitions, 1).median);
  EXPECT_DOUBLE_EQ(result.rate.value(), 2.0 * 50 * 50 * 50 / result.timed.median.value());
  EXPECT_EQ(result.kernel, fmt::format("{} 4x6", to_text(best_instruction_set())));
  EXPECT_TRUE(result.check.ok());
  EXPECT_GT(result.check.worst_error, 0);  // 2500 sums of 50 products do not all come out exact
  EXPECT_EQ(result.check.checked, Elements(2500));
}

TEST(Run, Calls_around_once_for_each_execution) {
  int calls = 0;
  const auto counted = [&](const std::function<void()>& work) {
    work();
    ++calls;
  };
  const RunResult result = run(matrix_product(8), {.repeat = 3, .around = counted});
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(result.check.ok());
  EXPECT_EQ(result.repetitions.size(), 3u);
}

TEST(Run_batched, Every_copy_is_computed_checked_and_counted) {
  const RunResult result = run_batched(matrix_product(50), 3, {.repeat = 2});
  ASSERT_EQ(result.repetitions.size(), 2u);
  EXPECT_DOUBLE_EQ(result.rate.value(), 3 * 2.0 * 50 * 50 * 50 / result.timed.median.value());
  EXPECT_EQ(result.threads, 3);
  EXPECT_TRUE(result.check.ok());
  EXPECT_EQ(result.check.checked, Elements(2500));
}

TEST(Run_batched, Needs_a_copy_and_a_repetition) {
  EXPECT_THROW(run_batched(matrix_product(8), 0, {.repeat = 1}), std::invalid_argument);
  EXPECT_THROW(run_batched(matrix_product(8), 1, {.repeat = 0}), std::invalid_argument);
}

TEST(Run_batched, Stops_before_it_begins) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(run_batched(matrix_product(8), 2, {.repeat = 1, .stop = source.get_token()}),
               Interrupted);
}

TEST(Run_batched, All_copies_have_to_fit_into_memory_together) {
  const Plan plan = matrix_product(2000);
  const std::int64_t fitting = available_memory() / plan.arena_size();
  const auto too_many = static_cast<int>(std::min<std::int64_t>(2 * fitting + 2, 1 << 30));
  EXPECT_THROW(run_batched(plan, too_many, {.repeat = 1}), UnsupportedError);
}

TEST(Run, Needs_a_repetition) {
  EXPECT_THROW(run(matrix_product(8), {.repeat = 0}), std::invalid_argument);
}

TEST(Run, Stops_before_it_begins) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(run(matrix_product(8), {.repeat = 1, .stop = source.get_token()}), Interrupted);
}

TEST(Arena, Arrays_are_where_the_plan_says_and_begin_as_zeros) {
  const Plan plan = matrix_product(50);
  Arena arena(plan);
  const auto start = reinterpret_cast<std::uintptr_t>(arena.array(test::packed_A)) -
                     static_cast<std::uintptr_t>(plan.base(test::packed_A).value());
  EXPECT_EQ(start % (std::uintptr_t{2} << 20), 0);
  for (ArrayId a : {ArrayId::A, ArrayId::B, ArrayId::C}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.array(a)) - start,
              static_cast<std::uintptr_t>(plan.base(a).value()));
    const double* data = arena.as<double>(a);
    EXPECT_TRUE(std::all_of(data, data + 2500, [](double x) { return x == 0; }));
  }
}

// Three matrices of 2^20 x 2^20 doubles are 24 TiB: more than there is, less than the plan's limit.
TEST(Arena, Too_little_memory_says_how_much_is_needed) {
  Schedule s;
  s.groups = test::groups("mnk", {"m", "n", "k", ""});
  constexpr std::int64_t extent = 1 << 20;
  s.root = loop(DimClass::m, 1, loop(DimClass::n, 1, kernel(1, 1)));
  const Plan plan(contraction("mn", "mk", "kn", {{'m', extent}, {'n', extent}, {'k', extent}}), s);
  try {
    Arena arena(plan);
    FAIL() << "no error";
  } catch (const UnsupportedError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("need 26.39 TB"), std::string::npos) << text;  // 3 * 8 * 2^40 bytes
    EXPECT_NE(text.find("this machine has"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tcsim
