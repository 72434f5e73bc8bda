#include "sim/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/plan/plan.hpp"
#include "sim/general.hpp"
#include "sim/hierarchy.hpp"
#include "tests/arrays.hpp"

namespace tcsim {
namespace {

Node loop(DimClass group, std::int64_t tile, Node body) {
  return {Loop{group, Elements(tile), std::move(body)}};
}
Node pack(TensorId t, Node body) { return {Move{Move::Kind::pack, t, "L1", std::move(body)}}; }
Node kernel(std::int64_t mr, std::int64_t nr) { return {Kernel{Elements(mr), Elements(nr)}}; }

// C(m,n) += A(m,k) B(k,n), column-major doubles.
Plan matmul(std::int64_t m, std::int64_t n, std::int64_t k, Node root) {
  const DimId dm{0}, dn{1}, dk{2};
  const Contraction c("matmul", {{'m', m}, {'n', n}, {'k', k}}, {{{dm, dk}, {dk, dn}, {dm, dn}}},
                      Layout::column_major, ElementType::f64);
  return Plan(c, Schedule{Groups{Group{dm}, Group{dn}, Group{dk}, Group{}}, std::move(root)});
}

Machine machine_with(const std::vector<sim::CacheShape>& caches) {
  Machine machine;
  machine.name = "test";
  for (const auto& shape : caches) {
    Level level;
    level.name = "L" + std::to_string(machine.levels.size() + 1);
    level.ways.value = shape.ways;
    level.line.value = Bytes(64);
    level.capacity.value = Bytes(shape.sets * shape.ways * 64);
    machine.levels.push_back(level);
  }
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  machine.levels.push_back(memory);
  return machine;
}

Moved lines(std::int64_t in, std::int64_t out) { return {Bytes(64 * in), Bytes(64 * out)}; }
Moved elements(std::int64_t in, std::int64_t out) { return {Bytes(8 * in), Bytes(8 * out)}; }

// A dot product of 1024: A and B are 8 KiB or 128 lines each, read once, element by element in
// turns; C is one line, written once. Three lines of cache are enough for that.
TEST(Simulate, A_stream_brings_every_line_once) {
  const Plan plan = matmul(1, 1, 1024, kernel(1, 1));
  const Simulation s = simulate(plan, machine_with({{1, 3}}));
  EXPECT_EQ(s.touches, Lines(2 * 1024 + 1));
  const LinkTraffic& link = s.traffic.links.at(1);
  EXPECT_EQ(link.at(Phase::compute, ArrayId::A), lines(128, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::B), lines(128, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::C), lines(1, 1));
  LevelCounts expected;
  expected.hits = Lines(2049 - 257);
  expected.misses = expected.fetches = expected.fills = Lines(257);
  expected.evictions = Lines(257 - 3);
  expected.write_backs = Lines(1);
  EXPECT_EQ(s.levels.at(0), expected);
}

// A 64 x 32 by 32 x 1, a row of A at a time: A is walked at a stride of 8 lines, 32 of them, B is 4
// lines, C one for 8 rows. One row touches 37 lines; 8 rows share theirs.
Plan strided() { return matmul(64, 1, 32, loop(DimClass::m, 1, kernel(1, 1))); }

// 64 lines hold a row: all is compulsory, 64 * 32 / 8 lines of A, 4 of B, 8 of C.
TEST(Simulate, A_strided_walk_reuses_lines_that_stay) {
  const LinkTraffic link = simulate(strided(), machine_with({{1, 64}})).traffic.links.at(1);
  EXPECT_EQ(link.at(Phase::compute, ArrayId::A), lines(256, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::B), lines(4, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::C), lines(8, 8));
}

// 16 lines do not: every element of A brings its line, every row all of B and the line of C, which
// leaves dirty each time. Within a row a line of B still serves its 8 elements.
TEST(Simulate, A_strided_walk_through_a_small_cache_brings_a_line_for_every_element) {
  const LinkTraffic link = simulate(strided(), machine_with({{1, 16}})).traffic.links.at(1);
  EXPECT_EQ(link.at(Phase::compute, ArrayId::A), lines(64 * 32, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::B), lines(64 * 4, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::C), lines(64, 64));
}

// 64 lines in 8 sets: arrays begin at multiples of 8 lines, so A's line for (m, k) is 8 k + m / 8
// and a row falls into the one set m / 8, whose 8 ways it runs through 4 times. A never hits. Line
// c of C is in set c and is thrown out between rows: 64 in and out. Line b of B is in set b: it
// comes at row 0, in each of the 8 rows that use its set (row 0 is one of them for b = 0), and once
// more after them, but for line 3: that is touched last in a row, with only C behind it, and stays.
TEST(Simulate, A_stride_of_the_number_of_sets_leaves_the_other_sets_unused) {
  const LinkTraffic link = simulate(strided(), machine_with({{8, 8}})).traffic.links.at(1);
  EXPECT_EQ(link.at(Phase::compute, ArrayId::A), lines(64 * 32, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::B), lines((8 + 1) + 2 * (1 + 8 + 1) + (1 + 8), 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::C), lines(64, 64));
}

// 16 x 16 x 4 in kernels of 8 x 8 from packed operands: a step along k is one line of each operand,
// a column of C in a kernel one line. L1 has 2 lines, L2 has room for all.
//  - L1, computing: 4 kernels x 4 steps of each operand, 4 x 8 columns of C; nothing stays.
//  - L1, packing: A is 8 lines (4 columns of 2), each read once; B is 8 lines of two columns each.
//    Buffers are 8 lines each. The last 2 of B's are still in L1 when computing begins.
//  - Memory: every line of every array once.
TEST(Simulate, A_blocked_product_moves_what_its_closed_form_says) {
  const Plan plan =
      matmul(16, 16, 4,
             pack(TensorId::A,
                  pack(TensorId::B, loop(DimClass::n, 8, loop(DimClass::m, 8, kernel(8, 8))))));
  const Simulation s = simulate(plan, machine_with({{1, 2}, {64, 16}}));
  const LinkTraffic& l1 = s.traffic.links.at(1);
  EXPECT_EQ(l1.at(Phase::compute, test::packed_A), lines(16, 0));
  EXPECT_EQ(l1.at(Phase::compute, test::packed_B), lines(16, 2));
  EXPECT_EQ(l1.at(Phase::compute, ArrayId::C), lines(32, 32));
  EXPECT_EQ(l1.at(Phase::packing, ArrayId::A), lines(8, 0));
  EXPECT_EQ(l1.at(Phase::packing, ArrayId::B), lines(8, 0));
  EXPECT_EQ(l1.at(Phase::packing, test::packed_A), lines(8, 8));
  EXPECT_EQ(l1.at(Phase::packing, test::packed_B), lines(8, 6));
  const LinkTraffic& memory = s.traffic.links.at(2);
  EXPECT_EQ(memory.at(Phase::packing, ArrayId::A), lines(8, 0));
  EXPECT_EQ(memory.at(Phase::packing, ArrayId::B), lines(8, 0));
  EXPECT_EQ(memory.at(Phase::packing, test::packed_A), lines(8, 0));
  EXPECT_EQ(memory.at(Phase::packing, test::packed_B), lines(8, 0));
  EXPECT_EQ(memory.at(Phase::compute, test::packed_A), lines(0, 8));
  EXPECT_EQ(memory.at(Phase::compute, test::packed_B), lines(0, 8));
  EXPECT_EQ(memory.at(Phase::compute, ArrayId::C), lines(32, 32));
}

// 32 x 16 x 64 in kernels of 8 x 8: the micropanel of B, 64 lines, is used by 4 kernels in turn,
// while 64 lines of A and 8 of C pass in each. Between two touches of a line of B lie the 63
// others, 64 of A and 8 of C, 135 lines: 136 lines hold it, and 135 lose every one although the
// micropanel is less than half of them.
TEST(Simulate, Lru_keeps_a_panel_only_if_there_is_room_for_what_streams_past) {
  const Plan plan =
      matmul(32, 16, 64,
             pack(TensorId::A,
                  pack(TensorId::B, loop(DimClass::n, 8, loop(DimClass::m, 8, kernel(8, 8))))));
  for (const std::int64_t ways : {136, 135}) {
    SCOPED_TRACE(ways);
    const LinkTraffic link = simulate(plan, machine_with({{1, ways}})).traffic.links.at(1);
    EXPECT_EQ(link.at(Phase::compute, test::packed_A).in, Bytes(64 * 2 * 4 * 64));
    EXPECT_EQ(link.at(Phase::compute, test::packed_B).in,
              Bytes(64 * (ways == 136 ? 2 * 64 : 2 * 4 * 64)));
    EXPECT_EQ(link.at(Phase::compute, ArrayId::C).in, Bytes(64 * 2 * 4 * 8));
  }
}

// 5 x 3 x 2 in kernels of 4 x 2, k one at a time: 2 x 2 x 2 kernels, each of which loads 4 elements
// of packed A and 2 of packed B, zeros included. C is stored for each k, loaded for the second one.
// Packing reads the 10 and 6 elements that there are, and stores 8 x 2 and 4 x 2.
TEST(Simulate, Registers_see_packed_operands_with_their_padding) {
  const Plan plan = matmul(
      5, 3, 2,
      pack(TensorId::A,
           pack(TensorId::B,
                loop(DimClass::k, 1, loop(DimClass::n, 2, loop(DimClass::m, 4, kernel(4, 2)))))));
  const LinkTraffic link = simulate(plan, machine_with({{8, 2}})).traffic.links.at(0);
  EXPECT_EQ(link.at(Phase::compute, test::packed_A), elements(32, 0));
  EXPECT_EQ(link.at(Phase::compute, test::packed_B), elements(16, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::C), elements(15, 30));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::A), elements(0, 0));
  EXPECT_EQ(link.at(Phase::packing, ArrayId::A), elements(10, 0));
  EXPECT_EQ(link.at(Phase::packing, ArrayId::B), elements(6, 0));
  EXPECT_EQ(link.at(Phase::packing, test::packed_A), elements(0, 16));
  EXPECT_EQ(link.at(Phase::packing, test::packed_B), elements(0, 8));
}

// The same in place: a kernel loads its rows and columns, no more. Each k has 5 rows for 2 column
// tiles, and 3 columns for 2 row tiles.
TEST(Simulate, Registers_see_operands_in_place_without_padding) {
  const Plan plan = matmul(5, 3, 2, loop(DimClass::n, 2, loop(DimClass::m, 4, kernel(4, 2))));
  const LinkTraffic link = simulate(plan, machine_with({{8, 2}})).traffic.links.at(0);
  EXPECT_EQ(link.at(Phase::compute, ArrayId::A), elements(2 * 5 * 2, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::B), elements(2 * 3 * 2, 0));
  EXPECT_EQ(link.at(Phase::compute, ArrayId::C), elements(0, 15));
}

// Both engines, to the last count: without a drain fewer lines are written back.
TEST(Simulate, Leaves_dirty_lines_where_they_are_if_told_to) {
  sim::SystemConfig config = sim::system_of(machine_with({{8, 2}, {8, 8}}));
  const Simulation drained = simulate(strided(), config);
  config.drain = false;
  const Simulation left = simulate(strided(), config);
  EXPECT_EQ(left, sim::simulate_general(strided(), config, {}));
  EXPECT_LT(left.levels[0].write_backs, drained.levels[0].write_backs);
}

TEST(Simulate, Refuses_what_it_does_not_simulate) {
  const Plan plan = matmul(4, 4, 4, kernel(4, 4));
  struct Case {
    std::string expected;
    std::function<void(Machine&)> change;
  };
  const std::vector<Case> cases{
      {"test: L1: inclusion inclusive",
       [](Machine& m) { m.levels[0].inclusion.value = Inclusion::inclusive; }},
      {"test: L2: it is exclusive, and its lines have 128 bytes",
       [](Machine& m) {
         m.levels[1].inclusion.value = Inclusion::exclusive;
         m.levels[1].line.value = Bytes(128);
       }},
      {"test: L1: a scratchpad", [](Machine& m) { m.levels[0].kind = LevelKind::scratchpad; }},
      {"test: L1: lines of 48 bytes",
       [](Machine& m) {
         for (Level& l : m.levels) l.line.value = Bytes(48);
       }},
      {"test: L2: lines of 8192 bytes",
       [](Machine& m) {
         m.levels[1].line.value = Bytes(8192);
         m.levels[1].capacity.value = Bytes(8 * 8 * 8192);
       }},
      {"test: the machine has no cache",
       [](Machine& m) { m.levels.erase(m.levels.begin(), m.levels.end() - 1); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.expected);
    Machine machine = machine_with({{8, 2}, {8, 8}});
    c.change(machine);
    try {
      simulate(plan, machine);
      ADD_FAILURE() << "not refused";
    } catch (const UnsupportedError& e) {
      EXPECT_EQ(std::string(e.what()).substr(0, c.expected.size()), c.expected);
    }
  }
}

// 50000 x 50000 doubles are 2.5e9 lines of 8 bytes, more than 31 bits can number.
TEST(Simulate, Refuses_arrays_of_too_many_lines) {
  const Plan plan = matmul(50000, 1, 50000, loop(DimClass::m, 8, kernel(8, 1)));
  Machine machine = machine_with({{8, 2}});
  machine.levels[0].line.value = Bytes(8);
  machine.levels[0].capacity.value = Bytes(8 * 2 * 8);
  EXPECT_THROW(simulate(plan, machine), UnsupportedError);
}

TEST(Simulate, Stops_when_asked) {
  const Plan plan = matmul(64, 64, 64, loop(DimClass::n, 8, loop(DimClass::m, 8, kernel(8, 8))));
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(simulate(plan, machine_with({{8, 2}}), {.stop = source.get_token()}), Interrupted);
}

TEST(Simulate, Progress_grows_and_ends_at_one) {
  const Plan plan = matmul(128, 128, 128, loop(DimClass::n, 1, loop(DimClass::m, 1, kernel(1, 1))));
  std::vector<double> seen;
  simulate(plan, machine_with({{8, 2}}),
           {.progress = [&](double share) { seen.push_back(share); }});
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_GE(seen.front(), 0);
  EXPECT_EQ(seen.back(), 1);
}

}  // namespace
}  // namespace tcsim
