#include "sim/hierarchy.hpp"
#include "tests/arrays.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tcsim::sim {
namespace {

ByArray<std::uint32_t> first_lines(std::initializer_list<std::uint32_t> lines) {
  ByArray<std::uint32_t> all;
  for (std::uint32_t line : lines) all.push_back(line);
  return all;
}

// Caches of the same rules in each engine: all of them have to give the worked-out figures.
class Every_engine : public testing::TestWithParam<Engine> {
 protected:
  Hierarchy caches(const std::vector<CacheShape>& shapes) const {
    return Hierarchy(shapes, first_lines({no_lines, no_lines, 0}), 6, GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Hierarchy, Every_engine,
                         testing::Values(Engine::narrow, Engine::sse2, Engine::avx2, Engine::best));

void read(Hierarchy& h, std::initializer_list<std::uint32_t> lines) {
  for (std::uint32_t line : lines) h.read(LineRun{line, line}, ArrayId::C);
}
void write(Hierarchy& h, std::initializer_list<std::uint32_t> lines) {
  for (std::uint32_t line : lines) h.write(LineRun{line, line}, ArrayId::C);
}
std::int64_t in(const Hierarchy& h, int link, Phase p = Phase::compute) {
  return h.fills(link, p, ArrayId::C).value();
}
std::int64_t out(const Hierarchy& h, int link, Phase p = Phase::compute) {
  return h.write_backs(link, p, ArrayId::C).value();
}

// 8 sets of 2 ways: lines 0, 8, 16 and 24 share set 0. After 0 8 0 the set holds 0 and 8, 8 is the
// older one; 16 therefore throws out 8, and of 0 and 8 only the second has to come again.
TEST_P(Every_engine, Lru_evicts_the_least_recently_used_line) {
  Hierarchy h = caches({{8, 2}});
  read(h, {0, 8, 0, 16});
  h.drain();
  EXPECT_EQ(in(h, 1), 3);
  read(h, {0});
  h.drain();
  EXPECT_EQ(in(h, 1), 3);
  read(h, {8});
  h.drain();
  EXPECT_EQ(in(h, 1), 4);
}

// Three lines in turns through two ways: under LRU each comes just after it had to leave.
TEST_P(Every_engine, A_cycle_of_one_line_too_many_never_hits) {
  Hierarchy h = caches({{8, 2}});
  for (int i = 0; i < 10; ++i) read(h, {0, 8, 16});
  h.drain();
  EXPECT_EQ(in(h, 1), 30);
  EXPECT_EQ(h.touches(), Lines(30));
}

// The same lines spread over three sets stay.
TEST_P(Every_engine, A_set_is_the_line_number_modulo_the_sets) {
  Hierarchy h = caches({{24, 1}});  // not a power of two
  for (int i = 0; i < 10; ++i) read(h, {0, 8, 16});
  h.drain();
  EXPECT_EQ(in(h, 1), 3);
  read(h, {24});  // set 0 again: line 0 leaves
  read(h, {0});
  h.drain();
  EXPECT_EQ(in(h, 1), 5);
}

TEST_P(Every_engine, Only_dirty_lines_are_written_back_and_only_once) {
  Hierarchy h = caches({{8, 1}});
  write(h, {0});
  read(h, {8});  // 0 leaves dirty
  read(h, {0});  // 8 leaves clean
  read(h, {8});  // 0 came back clean, and so it leaves
  h.drain();
  EXPECT_EQ(in(h, 1), 4);
  EXPECT_EQ(out(h, 1), 1);
  h.drain();
  EXPECT_EQ(out(h, 1), 1);
}

// Line 0 is written in L1 (1 way) and pushed out by 8. L2 (2 ways) has it, so it becomes dirty
// there, and nothing goes to memory before the end.
TEST_P(Every_engine, A_write_back_that_hits_makes_the_line_dirty_there) {
  Hierarchy h = caches({{8, 1}, {8, 2}});
  write(h, {0});
  read(h, {8});
  h.enter(Phase::packing);  // what follows is counted apart
  EXPECT_EQ(out(h, 1), 1);
  EXPECT_EQ(out(h, 2), 0);
  h.drain();
  EXPECT_EQ(out(h, 1, Phase::packing), 0);
  EXPECT_EQ(out(h, 2, Phase::packing), 1);
}

// It also makes it the most recent one: L1 has 1 way, L2 has 2. write 0, read 8 leaves 0 newer than
// 8 in L2, so that 16 throws 8 out of L2 and 0 is still found there.
TEST_P(Every_engine, A_write_back_refreshes_the_line) {
  Hierarchy h = caches({{8, 1}, {8, 2}});
  write(h, {0});
  read(h, {8, 16});
  h.enter(Phase::packing);
  EXPECT_EQ(in(h, 2), 3);
  read(h, {0});
  h.drain();
  EXPECT_EQ(in(h, 1, Phase::packing), 1);
  EXPECT_EQ(in(h, 2, Phase::packing), 0);
}

// L1 and L2 of one way each: reading 8 throws 0 out of L2 (clean) before L1 gives it up. The
// write-back finds no line, is put in without a fetch, and throws out 8, which is clean.
TEST_P(Every_engine, A_write_back_that_misses_allocates_without_fetching) {
  Hierarchy h = caches({{8, 1}, {8, 1}});
  write(h, {0});
  read(h, {8});
  h.enter(Phase::packing);
  EXPECT_EQ(in(h, 2), 2);
  EXPECT_EQ(out(h, 1), 1);
  EXPECT_EQ(out(h, 2), 0);
  read(h, {0});  // L2 has it
  h.drain();
  EXPECT_EQ(in(h, 2, Phase::packing), 0);
  EXPECT_EQ(out(h, 2, Phase::packing), 1);
}

// ... and what leaves for it goes on outward: with 0 and 8 dirty in turns, each write-back to L2
// throws out the other one, dirty, to memory. Three writes leave L1 at 8 and 0, and at the end
// at 8.
//   write 0:  L1 0*        L2 0
//   write 8:  L1 8*        L2 8 for the fetch, then 0* for the write-back, 8 leaves clean
//   write 0:  L1 0*        L2 has 0*; 8 is written back, 0* leaves dirty, L2 8*
//   drain:    L1 0         0* goes to L2, 8* leaves dirty; then 0* leaves
TEST_P(Every_engine, Write_backs_cascade) {
  Hierarchy h = caches({{8, 1}, {8, 1}});
  write(h, {0, 8, 0});
  h.drain();
  EXPECT_EQ(in(h, 1), 3);
  EXPECT_EQ(in(h, 2), 2);
  EXPECT_EQ(out(h, 1), 3);
  EXPECT_EQ(out(h, 2), 3);
}

TEST_P(Every_engine, Drain_writes_a_line_through_every_level_once) {
  Hierarchy h = caches({{8, 2}, {8, 4}, {8, 8}});
  h.write(LineRun{0, 15}, ArrayId::C);
  h.drain();
  for (int link = 1; link <= 3; ++link) {
    EXPECT_EQ(in(h, link), 16);
    EXPECT_EQ(out(h, link), 16);
  }
}

TEST_P(Every_engine, Lines_count_for_the_array_that_they_belong_to_and_the_phase_they_move_in) {
  // packed_B at lines 0..9, C at 10..19, A from 20 on.
  Hierarchy h({{8, 1}}, first_lines({20, no_lines, 10, no_lines, 0}), 6, GetParam());
  h.enter(Phase::packing);
  h.write(LineRun{9, 9}, test::packed_B);
  h.enter(Phase::compute);
  h.write(LineRun{17, 17}, ArrayId::C);  // set 1, as line 9: that one leaves now
  h.read(LineRun{25, 25}, ArrayId::A);
  h.drain();
  EXPECT_EQ(h.fills(1, Phase::packing, test::packed_B), Lines(1));
  EXPECT_EQ(h.write_backs(1, Phase::packing, test::packed_B), Lines(0));
  EXPECT_EQ(h.write_backs(1, Phase::compute, test::packed_B), Lines(1));
  EXPECT_EQ(h.write_backs(1, Phase::compute, ArrayId::C), Lines(1));
  EXPECT_EQ(h.fills(1, Phase::compute, ArrayId::A), Lines(1));
  EXPECT_EQ(h.write_backs(1, Phase::compute, ArrayId::A), Lines(0));
}

// Steps of 48 bytes from 0 and of 64 from 4096: the left stream touches lines 0, 0-1, 1-2, 2 and so
// on, 6 touches in 4 steps; the right one line in each.
TEST_P(Every_engine, A_line_that_two_steps_share_is_touched_in_both) {
  Hierarchy h = caches({{64, 8}});
  h.read(TwoStreams{0, 4096, 48, 64, ArrayId::C, ArrayId::C, 8});
  h.drain();
  EXPECT_EQ(h.touches(), Lines(2 * 6 + 8));
  EXPECT_EQ(in(h, 1), 6 + 8);
}

// Both streams run through the one way of the same set, in turns: nothing is ever found.
TEST_P(Every_engine, Streams_that_meet_in_a_set_take_turns) {
  Hierarchy h = caches({{8, 1}});
  h.read(TwoStreams{0, 8 * 64, 32, 32, ArrayId::C, ArrayId::C, 8});
  h.drain();
  EXPECT_EQ(in(h, 1), 16);
}

}  // namespace
}  // namespace tcsim::sim
