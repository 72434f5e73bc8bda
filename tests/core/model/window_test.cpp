#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/model/predict.hpp"
#include "tests/arrays.hpp"
#include "tests/core/build.hpp"
#include "tests/core/model/elements_in.hpp"

namespace tcsim {
namespace {

using test::elements_in;
using test::machine;
using test::matmul;
using test::schedule;

Traffic window(const Contraction& c, const Schedule& s, const Machine& m) {
  return predict(c, s, m).traffic;
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
  for (ArrayId a : {test::packed_A, test::packed_B}) {
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
  for (ArrayId x : a.links[1].arrays.ids()) {
    EXPECT_EQ(a.links[1].at(Phase::compute, x).in, b.links[1].at(Phase::compute, x).in);
    EXPECT_EQ(a.links[1].at(Phase::compute, x).out, a.links[1].at(Phase::compute, x).in);
  }
}

}  // namespace
}  // namespace tcsim
