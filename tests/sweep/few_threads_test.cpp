// What happens where the system gives no more threads: pthread_create() of this program fails
// beyond a number of threads.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/threads.hpp"
#include "core/workload/parse.hpp"
#include "kernels/execute.hpp"
#include "microbench/team.hpp"
#include "sim/simulate.hpp"
#include "sweep/sweep.hpp"
#include "tests/core/study/study_file.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TCSIM_SANITIZED 1  // they have a pthread_create() of their own
#endif

namespace {

// Threads that were started and not yet joined: one that has ended early still counts, so that
// how many may be started does not hang on how quick they are.
std::atomic<int> most_threads = 1'000'000, unjoined = 0;

}  // namespace

#ifndef TCSIM_SANITIZED
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*routine)(void*), void* argument) {
  static const auto create =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (unjoined.fetch_add(1) >= most_threads) {
    --unjoined;
    return EAGAIN;
  }
  return create(thread, attributes, routine, argument);
}

extern "C" int pthread_join(pthread_t thread, void** result) {
  static const auto join =
      reinterpret_cast<decltype(&pthread_join)>(dlsym(RTLD_NEXT, "pthread_join"));
  --unjoined;
  return join(thread, result);
}
#endif

namespace tcsim {
namespace {

class Few_threads : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TCSIM_SANITIZED
    GTEST_SKIP() << "sanitizers start threads by themselves";
#endif
  }
  void TearDown() override { most_threads = 1'000'000; }
  // So many beside those that there are.
  static void allow(int more) { most_threads = unjoined + more; }
};

const Contraction& matmul() {
  static const Contraction c = parse_contraction("ij-ik-kj", parse_sizes("i=96,j=72,k=80"),
                                                 Layout::row_major, ElementType::f64);
  return c;
}

const Optimized& schedule() {
  static const Optimized o = optimize(matmul(), find_machine("i7-6700k"), {}, {});
  return o;
}

TEST_F(Few_threads, Work_goes_on_with_those_that_there_are) {
  for (const int more : {0, 1, 2, 7}) {
    allow(more);
    std::atomic<int> left = 100, done = 0;
    const int threads = run_on_threads(4, [&] {
      while (left-- > 0) ++done;
    });
    EXPECT_EQ(threads, 1 + std::min(more, 3));
    EXPECT_EQ(done, 100);
    EXPECT_EQ(available_threads(4), 1 + std::min(more, 3));
  }
}

TEST_F(Few_threads, What_needs_all_of_them_does_not_begin) {
  for (const int more : {0, 2}) {
    allow(more);
    std::atomic<int> begun = 0;
    EXPECT_THROW(run_together(3, [&](int) { ++begun; }), UnsupportedError);
    EXPECT_EQ(begun, 0);
  }
  allow(3);
  std::atomic<int> begun = 0;
  run_together(3, [&](int i) { begun += 1 << i; });
  EXPECT_EQ(begun, 7);
}

TEST_F(Few_threads, Two_stages_go_by_turns) {
  for (const bool first_elsewhere : {false, true}) {
    allow(0);
    std::string order;
    run_in_two_stages(
        3, [&](std::int64_t i) { order += "abc"[i]; }, [&](std::int64_t i) { order += "ABC"[i]; },
        first_elsewhere);
    EXPECT_EQ(order, "aAbBcC");
  }
}

TEST_F(Few_threads, Errors_of_any_thread_come_back) {
  EXPECT_THROW(run_on_threads(3, [] { throw Interrupted(); }), Interrupted);
  EXPECT_THROW(run_together(3,
                            [](int i) {
                              if (i == 2) throw Interrupted();
                            }),
               Interrupted);
}

TEST_F(Few_threads, A_team_that_measures_is_refused) {
  allow(1);
  try {
    const Team team({0, 0, 0});
    FAIL();
  } catch (const UnsupportedError& e) {
    EXPECT_EQ(std::string(e.what()).find("3 threads: this machine gives no more than 1; "), 0u)
        << e.what();
  }
}

TEST_F(Few_threads, A_simulation_is_the_same) {
  const Plan plan(matmul(), schedule().schedule);
  const sim::SystemConfig config = sim::system_of(find_machine("i7-6700k"));
  SimulationOptions options;
  options.threads = 8;
  const Simulation all = simulate(plan, config, options);
  for (const int more : {0, 1}) {
    allow(more);
    EXPECT_EQ(simulate(plan, config, options).traffic, all.traffic);
  }
}

TEST_F(Few_threads, A_run_says_how_many_there_were) {
  const Plan plan(matmul(), schedule().schedule);
  allow(1);
  const RunResult r = run(plan, {.repeat = 1, .threads = 4});
  EXPECT_LE(r.threads, 2);
  EXPECT_LE(r.check.worst_error, 1);
  allow(1);
  EXPECT_THROW(run_batched(plan, 3, {.repeat = 1}), UnsupportedError);
}

TEST_F(Few_threads, A_sweep_is_the_same) {
  const Study study = study_of(
      "schema = 1\nname = \"grid\"\nmachines = [\"i7-6700k\"]\ncompute = \"predict\"\n"
      "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=96,j=72,k=80\"\n"
      "[[knob]]\nname = \"memory.bandwidth\"\nrange = \"0.5x..2x\"\npoints = 200\n");
  std::string expected;
  for (const int more : {1'000, 0, 1}) {
    const Folder folder("few_threads");
    allow(more);
    SweepOptions options;
    options.folder = folder.path();
    options.threads = 4;
    EXPECT_TRUE(sweep(study, options).complete);
    const std::string table = file_text(folder.path() / "results.csv");
    if (expected.empty()) expected = table;
    EXPECT_EQ(table, expected);
  }
}

}  // namespace
}  // namespace tcsim
