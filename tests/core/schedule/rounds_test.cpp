#include "core/schedule/rounds.hpp"

#include <gtest/gtest.h>

#include "core/schedule/path.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/build.hpp"

namespace tcsim {
namespace {

// C[n, m, l] += A[m, k, l] * B[n, k], A in blocks of 32 rows.
Contraction blocks(const char* sizes) {
  return parse_contraction("bca-cka-bk", parse_sizes(sizes), Layout::row_major, ElementType::f32);
}
Path path(const Contraction& c, const char* text) {
  return only_path(c, parse_schedule(text, c, "test"));
}
bool asks(const Contraction& c, const char* text) {
  const Schedule s = parse_schedule(text, c, "test");
  return asks_ahead(c, s.groups, only_path(c, s));
}

TEST(Rounds, Are_what_stands_around_the_innermost_columns) {
  const Contraction c = blocks("a=32,c=4,k=512,b=64");
  const auto round = round_of(path(c,
                                   "groups m=ac n=b k=k for n by 32 { for m by 64 { for k by 100 { "
                                   "for n by 16 { for n by 8 { for m by 32 { kernel 32x8 } } } } } "
                                   "}"));
  ASSERT_TRUE(round);
  EXPECT_EQ(round->depth, 3U);
  EXPECT_EQ(round->rows, 64);
  EXPECT_EQ(round->columns, 32);
  EXPECT_EQ(round->places, 100);
  EXPECT_TRUE(round->comes_again);

  const auto once =
      round_of(path(c, "groups m=ac n=b k=k for m by 32 { for n by 8 { kernel 32x8 } }"));
  ASSERT_TRUE(once);
  EXPECT_EQ(once->depth, 1U);
  EXPECT_EQ(once->rows, 32);
  EXPECT_EQ(once->columns, 64);
  EXPECT_EQ(once->places, 512);
  EXPECT_FALSE(once->comes_again);

  EXPECT_FALSE(round_of(path(c, "groups m=ac n=b k=k for n by 8 { for m by 32 { kernel 32x8 } }")));
}

TEST(Rounds, Kernels_ask_for_panels_in_place_that_no_cache_has) {
  const Contraction c = blocks("a=32,c=4,k=512,b=64");
  // A tile of 64 KiB, of 256.
  EXPECT_TRUE(asks(c, "groups m=ac n=b k=k for m by 32 { for n by 8 { kernel 32x8 } }"));
  // One of 32 KiB is in the first cache.
  EXPECT_FALSE(
      asks(c, "groups m=ac n=b k=k for m by 32 { for k by 256 { for n by 8 { kernel 32x8 } } }"));
  // All of A is in the second one when it comes again.
  EXPECT_FALSE(
      asks(c, "groups m=ac n=b k=k for n by 32 { for m by 32 { for n by 8 { kernel 32x8 } } }"));
  EXPECT_TRUE(
      asks(blocks("a=32,c=40,k=512,b=64"),
           "groups m=ac n=b k=k for n by 32 { for m by 32 { for n by 8 { kernel 32x8 } } }"));
  EXPECT_FALSE(
      asks(c, "groups m=ac n=b k=k pack B in L2 { for m by 32 { for n by 8 { kernel 32x8 } } }"));
  // Rows that go on behind those of the kernel.
  EXPECT_FALSE(asks(blocks("a=64,c=4,k=512,b=64"),
                    "groups m=ac n=b k=k for m by 32 { for n by 8 { kernel 32x8 } }"));
}

}  // namespace
}  // namespace tcsim
