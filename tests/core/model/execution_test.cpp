#include "core/model/execution.hpp"

#include <gtest/gtest.h>

#include "tests/arrays.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

double of(const PerArray& lines, ArrayId a) { return lines[a]; }

// C[16,16] of 4 x 4 kernels over the whole k of 8, in lines of one element.
class Tiles_of_4 : public testing::Test {
 protected:
  const Contraction contraction_ = test::matmul(16, 16, 8);
  const Schedule schedule_ =
      test::schedule("groups m=i n=j k=k for m by 4 { for n by 4 { kernel 4x4 } }");
  const Nest nest_{contraction_, schedule_, Bytes(8)};
  const Execution whole_{nest_, 0, {16, 16, 8, 1}, 2};
};

TEST_F(Tiles_of_4, Show_fewer_lines_from_loop_to_loop) {
  // A[i,k], B[k,j] and C[i,j], whole, inside the loop over m, and in the kernel.
  const double a[] = {128, 32, 32}, b[] = {128, 128, 32}, c[] = {256, 64, 16};
  for (int d = 0; d < 3; ++d) {
    SCOPED_TRACE(d);
    EXPECT_EQ(of(whole_.full(d), ArrayId::A), a[d]);
    EXPECT_EQ(of(whole_.full(d), ArrayId::B), b[d]);
    EXPECT_EQ(of(whole_.full(d), ArrayId::C), c[d]);
  }
  EXPECT_EQ(whole_.extents(1), (Extents{4, 16, 8, 1}));
  EXPECT_EQ(whole_.extents(2), (Extents{4, 4, 8, 1}));
}

TEST_F(Tiles_of_4, Boxes_grow_along_the_loop_around_them) {
  EXPECT_EQ(whole_.box(TensorId::C, 64, DimClass::k), (Extents{4, 16, 8, 1}));
  EXPECT_EQ(whole_.box(TensorId::C, 32, DimClass::k), (Extents{4, 8, 8, 1}));  // two kernels
}

// A kernel goes along k, and over C column by column. A copy of several micropanels goes through
// them one after the other, one of a single micropanel along k.
TEST_F(Tiles_of_4, Parts_of_a_kernel_or_a_copy_are_what_they_go_along) {
  EXPECT_EQ(whole_.box(TensorId::A, 8, DimClass::m), (Extents{4, 4, 2, 1}));
  EXPECT_EQ(whole_.box(TensorId::B, 16, DimClass::m), (Extents{4, 4, 4, 1}));
  EXPECT_EQ(whole_.box(TensorId::C, 4, DimClass::m), (Extents{4, 1, 8, 1}));
  const auto of_copy = [&](const char* text, double lines) {
    const Schedule schedule = test::schedule(text);
    const Nest nest(contraction_, schedule, Bytes(8));
    return Execution(nest, 0, {16, 16, 8, 1}, 2).box(TensorId::A, lines, DimClass::n);
  };
  EXPECT_EQ(
      of_copy("groups m=i n=j k=k pack A in L1 { for m by 4 { for n by 4 { kernel 4x4 } } }", 64),
      (Extents{8, 16, 8, 1}));
  EXPECT_EQ(
      of_copy("groups m=i n=j k=k for m by 4 { pack A in L1 { for n by 4 { kernel 4x4 } } }", 16),
      (Extents{4, 16, 4, 1}));
}

// C is touched after A and B in its kernel, in the middle of C's own 15 other lines.
TEST_F(Tiles_of_4, The_first_line_of_C_has_all_others_after_it) {
  const std::vector<Execution::Sides> sides = whole_.sides(ArrayId::C, whole_);
  ASSERT_EQ(sides.size(), 9);  // first, last and inner of both loops
  const Execution::Sides& first = sides.front();
  EXPECT_DOUBLE_EQ(first.share, 1.0 / 16);
  // Along n there are 3 more tiles of B (32 lines) and C (16), along m 3 more of A (32) and C (64),
  // which sweep all of B.
  EXPECT_DOUBLE_EQ(of(first.after, ArrayId::A), 3 * 32 + 32);
  EXPECT_DOUBLE_EQ(of(first.after, ArrayId::B), 128);
  EXPECT_DOUBLE_EQ(of(first.after, ArrayId::C), 7.5 + 3 * 16 + 3 * 64);
  EXPECT_DOUBLE_EQ(of(first.before, ArrayId::A), 32);
  EXPECT_DOUBLE_EQ(of(first.before, ArrayId::B), 32);
  EXPECT_DOUBLE_EQ(of(first.before, ArrayId::C), 7.5);
}

TEST_F(Tiles_of_4, All_lines_of_C_but_the_one_are_on_its_two_sides) {
  double share = 0;
  for (const Execution::Sides& s : whole_.sides(ArrayId::C, whole_)) {
    EXPECT_DOUBLE_EQ(of(s.after, ArrayId::C) + of(s.before, ArrayId::C), 255);
    share += s.share;
  }
  EXPECT_DOUBLE_EQ(share, 1);
}

// A of 16 x 8 is packed tile by tile, 4 rows of all of k: 32 lines. Inside, A itself is not
// touched, and B has no buffer.
TEST(Execution, A_buffer_is_no_larger_outside_its_pack) {
  const Nest nest(test::matmul(16, 16, 8),
                  test::schedule("groups m=i n=j k=k for m by 4 { pack A in L1 { for n by 4 { "
                                 "kernel 4x4 } } }"),
                  Bytes(8));
  const Execution whole(nest, 0, {16, 16, 8, 1}, 2);
  ASSERT_EQ(nest.arrays().size(), 4);
  const double a[] = {128, 32, 0, 0};
  for (int d = 0; d < 4; ++d) {
    SCOPED_TRACE(d);
    EXPECT_EQ(of(whole.full(d), ArrayId::A), a[d]);
    EXPECT_EQ(of(whole.full(d), test::packed_A), 32);
  }
}

}  // namespace
}  // namespace tcsim
