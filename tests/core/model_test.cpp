#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/model/predict.hpp"
#include "core/model/tile_lines.hpp"
#include "core/model/window.hpp"
#include "tests/core/build.hpp"
#include "tests/groups.hpp"

namespace tcsim {
namespace {

using test::machine;
using test::matmul;
using test::schedule;

// Lines of one array that enter a level, where lines are one element of 8 bytes.
std::int64_t elements_in(const Traffic& t, std::size_t link, ArrayId a) {
  return t.links[link].at(Phase::compute, a).in.value() / 8;
}

Traffic window(const Contraction& c, const Schedule& s, const Machine& m) {
  return predict(c, s, m).traffic;
}

// acmtc-sc19, Table 1: data movement of a one-level tiled matrix multiplication (loops i2, j2, k2
// over tiles) for every choice of which tiles span their whole dimension. Cache lines are one word
// and the cache is ideal for the tile: it holds one tile and nothing more.
TEST(Listing3, Reproduces_the_eight_cases_of_table_1) {
  constexpr std::int64_t n = 40, t = 8;
  for (int whole = 0; whole < 8; ++whole) {
    const std::int64_t ti = whole & 1 ? n : t, tj = whole & 2 ? n : t, tk = whole & 4 ? n : t;
    SCOPED_TRACE(fmt::format("Ti={} Tj={} Tk={}", ti, tj, tk));
    const std::int64_t footprint = ti * tk + tk * tj + ti * tj;
    const Machine m = machine({{1, footprint + 1}}, 8);
    const Schedule s = schedule(fmt::format(
        "groups m=i n=j k=k for m by {} {{ for n by {} {{ for k by {} {{ for m by 1 {{ for n by 1 "
        "{{ kernel 1x1 }} }} }} }} }}",
        ti, tj, tk));
    const Traffic got = listing3_traffic(matmul(n, n, n), s, m);
    // The table's rows of i2: A is reloaded for every tile of j unless k fits whole (then A's tile
    // survives the j loop), B for every tile of i unless j and k fit whole, C is loaded once.
    const std::int64_t a = n * n * (tk == n ? 1 : n / tj);
    const std::int64_t b = n * n * (tj == n && tk == n ? 1 : n / ti);
    EXPECT_EQ(elements_in(got, 1, ArrayId::A), a);
    EXPECT_EQ(elements_in(got, 1, ArrayId::B), b);
    EXPECT_EQ(elements_in(got, 1, ArrayId::C), n * n);
  }
}

TEST(Window_model, An_operand_that_streams_past_needs_room_twice) {
  // Tiles 8 x 8 x 8 of 40^3, k innermost: C stays while A and B stream through. LRU needs room for
  // C's tile and both operands twice, 64 + 2 (64 + 64) = 320 words; the model must see C reloaded
  // for every k tile when the cache holds only 192 + 1 words, and kept when it holds 400. One
  // element of C survives even so: the tile's last, since nothing comes after it, and before its
  // next use 64 + 64 + 63 words pass, 25 tiles times 4 reuses in all.
  const Schedule s = schedule(
      "groups m=i n=j k=k for m by 8 { for n by 8 { for k by 8 { for m by 1 { for n by 1 { kernel "
      "1x1 } } } } }");
  const Traffic small = window(matmul(40, 40, 40), s, machine({{1, 193}}, 8));
  const Traffic large = window(matmul(40, 40, 40), s, machine({{1, 400}}, 8));
  EXPECT_EQ(elements_in(small, 1, ArrayId::C), 40 * 40 * 5 - 25 * 4);
  EXPECT_EQ(elements_in(large, 1, ArrayId::C), 40 * 40);
  EXPECT_EQ(elements_in(large, 1, ArrayId::A), 40 * 40 * 5);
  EXPECT_EQ(elements_in(large, 1, ArrayId::B), 40 * 40 * 5);
}

TEST(Window_model, Counts_visits_of_tiles_that_do_not_divide) {
  // k = 40 in tiles of 16 is 3 passes over C (16, 16, 8), not 2.5.
  const Schedule s =
      schedule("groups m=i n=j k=k for k by 16 { for m by 4 { for n by 4 { kernel 4x4 } } }");
  const Traffic t = window(matmul(400, 400, 40), s, machine({{1, 500}}, 8));
  EXPECT_EQ(elements_in(t, 1, ArrayId::C), 3 * 400 * 400);
  EXPECT_EQ(t.links[0].at(Phase::compute, ArrayId::C).out, Bytes(3 * 400 * 400 * 8));
  EXPECT_EQ(t.links[0].at(Phase::compute, ArrayId::C).in, Bytes(2 * 400 * 400 * 8));
}

TEST(Window_model, Everything_that_fits_moves_once) {
  const Schedule s = schedule(
      "groups m=j n=i k=k pack A in L1 { pack B in L1 { for n by 4 { for m by 8 { kernel 8x4 } } } "
      "}");
  // 32^3 f64: tensors 8 KiB each, buffers 8 KiB each: 640 lines in all.
  const Traffic t = window(matmul(32, 32, 32), s, machine({{1, 1000}}));
  for (ArrayId a : {ArrayId::A, ArrayId::B}) {
    EXPECT_EQ(t.links[1].at(Phase::packing, a).in, Bytes(8192));
    EXPECT_EQ(t.links[1].at(Phase::packing, a).out, Bytes(0));
  }
  for (ArrayId a : {ArrayId::packed_A, ArrayId::packed_B}) {
    EXPECT_EQ(t.links[1].at(Phase::packing, a).in, Bytes(8192));
    EXPECT_EQ(t.links[1].at(Phase::packing, a).out, Bytes(8192));
    EXPECT_EQ(t.links[1].at(Phase::compute, a).in, Bytes(0));
  }
  EXPECT_EQ(t.links[1].at(Phase::compute, ArrayId::C).in, Bytes(8192));
  EXPECT_EQ(t.links[1].at(Phase::compute, ArrayId::C).out, Bytes(8192));
}

TEST(Window_model, Core_link_counts_what_kernels_load_and_store) {
  // 32^3 by 8x4 kernels over the whole k: every A row panel (mr = 8 rows of group m, here j) is
  // read once per n tile (8 of them), every B panel once per m tile (4).
  const Schedule s = schedule("groups m=j n=i k=k for n by 4 { for m by 8 { kernel 8x4 } }");
  const LinkTraffic core = window(matmul(32, 32, 32), s, machine({{64, 8}})).links[0];
  EXPECT_EQ(core.at(Phase::compute, ArrayId::B).in, Bytes(32 * 32 * 8 * 8));  // left operand: B
  EXPECT_EQ(core.at(Phase::compute, ArrayId::A).in, Bytes(32 * 32 * 4 * 8));
  EXPECT_EQ(core.at(Phase::compute, ArrayId::C).in, Bytes(0));  // overwritten, not added to
  EXPECT_EQ(core.at(Phase::compute, ArrayId::C).out, Bytes(32 * 32 * 8));
}

TEST(Window_model, Refuses_caches_with_different_lines) {
  Machine m = machine({{64, 8}, {512, 8}});
  m.levels[1].line.value = Bytes(128);
  const Schedule s = schedule("groups m=j n=i k=k for n by 4 { for m by 8 { kernel 8x4 } }");
  EXPECT_THROW(window(matmul(32, 32, 32), s, m), UnsupportedError);
}

TEST(Tile_lines, Runs_follow_memory_order) {
  // Row-major A[i][k] of 40 x 24: a row is 3 lines of 8 elements.
  const Contraction c = matmul(40, 40, 24);
  const TileLines lines(c, test::groups(c, {"i", "j", "k", ""}), TensorId::A, 8);
  EXPECT_DOUBLE_EQ(lines.lines({1, 1, 24, 1}), 3);
  EXPECT_DOUBLE_EQ(lines.lines({5, 1, 24, 1}), 15);  // whole rows run into one another
  EXPECT_DOUBLE_EQ(lines.run({5, 1, 24, 1}), 120);
  EXPECT_DOUBLE_EQ(lines.lines({5, 1, 8, 1}), 5);       // one whole line a row
  EXPECT_DOUBLE_EQ(lines.lines({5, 1, 12, 1}), 5 * 2);  // runs begin at multiples of 4: 16/8 lines
  EXPECT_DOUBLE_EQ(lines.lines({40, 1, 24, 1}), 120);
  // A tile of one k: every row's element is in a line of its own.
  EXPECT_DOUBLE_EQ(lines.lines({40, 1, 1, 1}), 40);
}

TEST(Tile_lines, Fused_groups_cover_their_dimensions_in_order) {
  // C[a,b,c,d] column-major, m = ac: a tile of 24 of a=24 and c=16 covers all of a and one c; one
  // of 48 covers two c, which lie 24*16 elements apart (b between them).
  const Contraction c =
      parse_contraction("abcd-ack-bdk", {{'a', 24}, {'b', 16}, {'c', 16}, {'d', 4}, {'k', 8}},
                        Layout::column_major, ElementType::f64);
  const TileLines lines(c, test::groups(c, {"ac", "bd", "k", ""}), TensorId::C, 8);
  EXPECT_DOUBLE_EQ(lines.run({24, 1, 1, 1}), 24);
  EXPECT_DOUBLE_EQ(lines.run({48, 1, 1, 1}), 24);
  EXPECT_DOUBLE_EQ(lines.lines({48, 1, 1, 1}), 6);
  EXPECT_DOUBLE_EQ(lines.run({24, 16, 1, 1}), 24 * 16);  // a and b whole
  EXPECT_DOUBLE_EQ(lines.run({48, 16, 1, 1}), 24 * 16 * 2);
}

TEST(Occupancy, Fully_associative_is_all_or_nothing) {
  const CacheShape cache{1, 100};
  const WindowPart fits[] = {{60, 1}, {39, 1}}, too_large[] = {{60, 1}, {40, 1}};
  EXPECT_EQ(miss_probability(cache, fits), 0);  // 99 others and the line itself
  EXPECT_EQ(miss_probability(cache, too_large), 1);
}

TEST(Occupancy, Contiguous_lines_spread_evenly) {
  // 64 sets of 8 ways. 7 x 64 contiguous lines put exactly 7 into every set: the line survives;
  // 7.5 x 64 put an eighth into half of the sets.
  const CacheShape cache{64, 8};
  const WindowPart seven[] = {{448, 448}}, more[] = {{480, 480}}, eight[] = {{512, 512}};
  EXPECT_EQ(miss_probability(cache, seven), 0);
  EXPECT_NEAR(miss_probability(cache, more), 0.5, 1e-12);
  EXPECT_EQ(miss_probability(cache, eight), 1);
}

TEST(Occupancy, Scattered_lines_fall_like_poisson) {
  // Direct-mapped, 1000 sets, 700 single lines: nobody else in the set with exp(-0.7).
  const WindowPart scattered[] = {{700, 1}};
  EXPECT_NEAR(miss_probability({1000, 1}, scattered), 1 - std::exp(-0.7), 1e-3);
  // Two ways: at most one other, exp(-0.7) (1 + 0.7).
  EXPECT_NEAR(miss_probability({1000, 2}, scattered), 1 - std::exp(-0.7) * 1.7, 1e-3);
}

TEST(Timing, The_slowest_link_decides_and_the_roof_joins) {
  Machine m = machine({{64, 8}});               // 1 GB/s on both links, 8 GFLOPS
  const Contraction c = matmul(100, 100, 100);  // 2e6 flops: 0.25 ms
  Traffic t;
  t.links.resize(2);
  t.links[0].at(Phase::compute, ArrayId::A).in = Bytes(100'000);  // 0.1 ms
  t.links[1].at(Phase::compute, ArrayId::A).in = Bytes(150'000);
  t.links[1].at(Phase::compute, ArrayId::C).out = Bytes(50'000);
  Timing honest = timing(t, c, m);
  EXPECT_DOUBLE_EQ(honest.links[1].value(), 0.2e-3);
  EXPECT_DOUBLE_EQ(honest.total.value(), 0.25e-3);
  EXPECT_EQ(bottleneck_name(honest, m), "compute");
  m.accounting = Accounting::paper();  // bytes out and the roof do not count
  const Timing paper = timing(t, c, m);
  EXPECT_DOUBLE_EQ(paper.total.value(), 0.15e-3);
  EXPECT_EQ(bottleneck_name(paper, m), "L1-memory");
}

// acmtc-sc19, Table 2: in the computation phase operands come in, whoever brings them.
TEST(Accounting, Without_packing_an_operand_counts_as_read_for_its_packing) {
  LinkTraffic link;
  link.at(Phase::packing, ArrayId::A).in = Bytes(640);
  link.at(Phase::packing, ArrayId::packed_A) = {Bytes(64), Bytes(128)};
  link.at(Phase::compute, ArrayId::packed_A).in = Bytes(256);
  const Accounting computation{"computation", false, false, false};
  EXPECT_EQ(link.counted(computation, ArrayId::A), Bytes(0));
  EXPECT_EQ(link.counted(computation, ArrayId::packed_A), Bytes(640));
  link.at(Phase::compute, ArrayId::packed_A).in = Bytes(6400);  // kernels read it many times
  EXPECT_EQ(link.counted(computation), Bytes(6400));
}

// 800 bytes at 4 B/cycle and 1 GHz; the outer link is as it was.
TEST(Accounting, Halved_register_loads_take_half_the_time_at_the_innermost_link_only) {
  Machine m = test::machine({{64, 8}});
  m.levels[0].bandwidth.value.value = 4;
  m.accounting = {"", true, false, true};
  Traffic traffic;
  traffic.links.resize(2);
  for (LinkTraffic& link : traffic.links) link.at(Phase::compute, ArrayId::A).in = Bytes(800);
  const Contraction c = test::matmul(4, 4, 4);
  EXPECT_EQ(timing(traffic, c, m).links[0], Seconds(200e-9));
  m.accounting.halve_register_loads = true;
  EXPECT_EQ(timing(traffic, c, m).links[0], Seconds(100e-9));
  EXPECT_EQ(timing(traffic, c, m).links[1], Seconds(800e-9));
}

TEST(Accounting, Packing_counts_only_where_it_should) {
  LinkTraffic link;
  link.at(Phase::packing, ArrayId::A) = {Bytes(10), Bytes(20)};
  link.at(Phase::compute, ArrayId::C) = {Bytes(100), Bytes(200)};
  EXPECT_EQ(link.counted(Accounting::honest()), Bytes(330));
  EXPECT_EQ(link.counted(Accounting::paper()), Bytes(110));  // C's 100 and A's 10 come in
  EXPECT_EQ(link.counted(Accounting::honest(), ArrayId::A), Bytes(30));
}

// acmtc-sc19, 5.5: an exclusive L2 of 96 lines over an L1 of 32 keeps what an L2 of 128 lines
// would. Every line that enters L1 leaves it to L2 again.
TEST(Exclusive_level, Keeps_its_lines_and_those_inside) {
  const Contraction c = test::matmul(48, 48, 48);
  const Schedule s = test::schedule(
      "groups m=j n=i k=k for n by 24 { for k by 24 { for m by 24 { for n by 6 { for m by 8 { "
      "kernel "
      "8x6 }}}}}");
  Machine exclusive = test::machine({{1, 32}, {1, 96}});
  exclusive.levels[1].inclusion.value = Inclusion::exclusive;
  const Machine larger = test::machine({{1, 32}, {1, 128}});
  const Traffic a = predict(c, s, exclusive).traffic, b = predict(c, s, larger).traffic;
  EXPECT_EQ(a.links[2], b.links[2]);
  EXPECT_NE(a.links[2], predict(c, s, test::machine({{1, 32}, {1, 96}})).traffic.links[2]);
  for (ArrayId x : all_arrays) {
    EXPECT_EQ(a.links[1].at(Phase::compute, x).in, b.links[1].at(Phase::compute, x).in);
    EXPECT_EQ(a.links[1].at(Phase::compute, x).out, a.links[1].at(Phase::compute, x).in);
  }
}

}  // namespace
}  // namespace tcsim
