// Streams cover their arrays evenly and count the bytes that they move.
#include "microbench/stream.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tcsim {
namespace {

constexpr AccessMix mixes[] = {AccessMix::load_fma_store, AccessMix::load, AccessMix::copy,
                               AccessMix::triad};

TEST(Stream, Arrays_lie_apart_in_the_block_and_make_up_the_working_set) {
  for (AccessMix mix : mixes) {
    for (std::int64_t bytes : {1, 512, 1536, 8192, 100000, 1 << 20}) {
      const StreamLayout layout(mix, Bytes(bytes));
      const int arrays = array_count(mix);
      EXPECT_EQ(layout.array % loop_step, 0);
      EXPECT_EQ(layout.working_set, Bytes(layout.array * arrays));
      if (bytes >= 1536) {
        EXPECT_LE(layout.working_set, Bytes(bytes));
      }
      EXPECT_GT(layout.working_set, Bytes(bytes - arrays * loop_step));
      EXPECT_LE(layout.end(), block_for(Bytes(bytes)));
      for (int i = 0; i < arrays; ++i) {
        EXPECT_EQ(layout.offset[i] % loop_step, 0);
        EXPECT_LE(layout.offset[i] + layout.array, layout.end().value());
        for (int j = 0; j < i; ++j) {
          EXPECT_GE(layout.offset[i], layout.offset[j] + layout.array);
          // Low twelve bits apart, or a load would wait for a store that it only resembles.
          EXPECT_GE((layout.offset[i] - layout.offset[j]) % 4096, loop_step);
        }
      }
    }
  }
}

// How often a stream of load-fma-store touched each element that began as 3: x -> (x + 1) / 2, so
// that x - 1 halves each time.
int touches(double x) {
  int n = 0;
  for (double d = x - 1; d < 2; d *= 2) ++n;
  return n;
}

TEST(Stream, It_goes_on_where_it_ended_and_touches_all_before_it_comes_back) {
  const Bytes working_set(5 * loop_step);
  const long n = 5 * loop_step / 8;
  std::vector<Block> blocks;
  blocks.emplace_back(block_for(working_set));
  double* const x = reinterpret_cast<double*>(blocks[0].data());
  for (long i = 0; i < n + 64; ++i) x[i] = 3;
  const Work work = stream_work(AccessMix::load_fma_store, plain_loops.f64, working_set, blocks);
  EXPECT_EQ(work.grain, 5);  // a short working set: whole passes
  // 2 + 2 + 7 + 5 = 16 steps over five: three passes and one step.
  for (long units : {2, 2, 7, 5}) work.run(0, units);
  for (long i = 0; i < n; ++i) ASSERT_EQ(touches(x[i]), i < loop_step / 8 ? 4 : 3) << i;
  EXPECT_EQ(x[n], 3);
  work.prepare(0);
  EXPECT_EQ(touches(x[0]), 5);
  EXPECT_EQ(touches(x[n - 1]), 4);
}

TEST(Stream, A_long_working_set_is_measured_piece_by_piece) {
  std::vector<Block> blocks;
  blocks.emplace_back(block_for(Bytes(4 << 20)));
  EXPECT_EQ(stream_work(AccessMix::load, plain_loops.f64, Bytes(4 << 20), blocks).grain, 1);
}

TEST(Stream, Each_thread_works_on_its_own_block) {
  const Bytes working_set(2 * loop_step);
  std::vector<Block> blocks;
  for (int i = 0; i < 2; ++i) blocks.emplace_back(block_for(working_set));
  for (const Block& b : blocks) *reinterpret_cast<double*>(b.data()) = 3;
  const Work work = stream_work(AccessMix::load_fma_store, plain_loops.f64, working_set, blocks);
  work.run(1, 2);
  EXPECT_EQ(*reinterpret_cast<double*>(blocks[0].data()), 3);
  EXPECT_EQ(*reinterpret_cast<double*>(blocks[1].data()), 2);
}

TEST(Stream, Loads_and_stores_count_and_lines_that_a_store_fetches_do_not) {
  Timed timed;
  timed.units = {Seconds(1e-9)};  // of loop_step bytes of each array
  const auto rate = [&](AccessMix mix, int threads) {
    return stream_rates(mix, threads, timed)[0].value() / 1e9;
  };
  EXPECT_DOUBLE_EQ(rate(AccessMix::load_fma_store, 1), 1024);  // loaded and stored
  EXPECT_DOUBLE_EQ(rate(AccessMix::load, 1), 512);
  EXPECT_DOUBLE_EQ(rate(AccessMix::copy, 1), 1024);   // one array loaded, one stored
  EXPECT_DOUBLE_EQ(rate(AccessMix::triad, 1), 1536);  // two loaded, one stored
  EXPECT_DOUBLE_EQ(rate(AccessMix::load, 3), 3 * 512);
}

}  // namespace
}  // namespace tcsim
