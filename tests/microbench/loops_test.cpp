// The timed loops compute what they say: a stream that skipped elements would measure nonsense.
#include "microbench/loops.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "microbench/measure.hpp"

namespace tcsim {
namespace {

// Those that this processor can run.
std::vector<const ProbeLoops*> loops_here() {
  std::vector<const ProbeLoops*> loops{&plain_loops};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) loops.push_back(&avx2_loops);
  if (__builtin_cpu_supports("avx512f")) loops.push_back(&avx512_loops);
#endif
  return loops;
}

TEST(Loops, The_stream_touches_every_element_once_a_pass_and_nothing_else) {
  for (const ProbeLoops* loops : loops_here()) {
    const Block block(Bytes(4096));
    double* const x = block.data();
    const long n = 192;
    for (long i = 0; i < n; ++i) x[i] = static_cast<double>(i);
    loops->stream(x, n, 2);
    // Two passes of x/2 + 1/2: x/4 + 3/4, exact in binary.
    for (long i = 0; i < n; ++i) {
      ASSERT_EQ(x[i], static_cast<double>(i) / 4 + 0.75) << loops->name << " element " << i;
    }
    for (long i = n; i < 512; ++i) ASSERT_EQ(x[i], 1) << loops->name << " element " << i;
  }
}

TEST(Loops, The_widest_that_run_here_are_the_best) {
  EXPECT_EQ(&best_loops(), loops_here().back());
  for (const ProbeLoops* loops : loops_here()) {
    EXPECT_GE(loops->vector_bits, 128);
    EXPECT_LT(loops->accumulators, loops->vector_registers - 2);  // and the two constants
  }
}

TEST(Timing, Every_repetition_counts_whole_rounds) {
  long rounds = 0, calls = 0;
  const Timed t = time_rounds(
      [&](long r) {
        rounds += r;
        ++calls;
        loops_here().front()->dependent(r);
      },
      {});
  EXPECT_GE(t.repetitions, 3);
  EXPECT_GT(t.fastest.value(), 0);
  EXPECT_LE(t.fastest, t.median);
  EXPECT_LE(t.median, t.slowest);
  EXPECT_GE(calls, t.repetitions + 2);  // and the warm-up
  EXPECT_GE(rounds, calls);
}

TEST(Timing, The_thread_may_run_where_it_could_before) {
  cpu_set_t before, during, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  {
    const Pinned pinned;
    ASSERT_EQ(sched_getaffinity(0, sizeof(during), &during), 0);
    EXPECT_EQ(CPU_COUNT(&during), 1);
    EXPECT_TRUE(CPU_ISSET(pinned.cpu(), &during));
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace tcsim
