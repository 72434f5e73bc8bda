#include "core/schedule/scheme.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim {
namespace {

using test::message_of;

Contraction layer(const std::string& sizes) {
  return contraction_of(parse_convolution("conv2d", sizes, ElementType::f32));
}

// With vectors of 16.
std::string read(const Contraction& c, const std::string& scheme) {
  const Schedule s = parse_scheme(scheme, c, 16, "s");
  check(s, c, {"L1"}, "s");
  return to_line(s, c);
}

// ttile, Fig. 2: H = 136 as 4 x (8 + 2 x 13), with y for its h and x for its w.
TEST(Scheme, Reads_the_papers_example_of_two_kernels) {
  const Contraction c = layer("k=64,c=128,y=136,x=136,layout=nhwc");
  EXPECT_EQ(read(c, "[T136,x,T4,y,λy [(1,8),(2,13)],T2,k,T128,c,Uα,y,U2,k,Vk]"),
            "groups m=k n=yxn k=crs for n by 136 { for n by 34 { seq over n { part 8 { for m by 32 "
            "{ kernel 32x8 } } part 26 { for n by 13 { for m by 32 { kernel 32x13 } } } } } }");
}

// ttile, section 4: the kernel of BLIS, and 128 = 12 x 6 + 8 x 7. Our j has vectors, so it is m.
TEST(Scheme, Reads_the_papers_matrix_products) {
  const Contraction c = parse_contraction("ij-ik-kj", parse_sizes("i=128,j=128,k=64"),
                                          Layout::row_major, ElementType::f32);
  EXPECT_EQ(read(c, "[Rj,λi [(12,6),(8,7)],T64,k,Uα,i,U2,j,Vj]"),
            "groups m=j n=i k=k for m by 32 { seq over n { part 72 { for n by 6 { kernel 32x6 } } "
            "part 56 { for n by 7 { kernel 32x7 } } } }");
  EXPECT_EQ(read(c, "[R j, R k, R i, T2,j, T2,i, T16,k, U8,i, U2,j, V j]"),
            "groups m=j n=i k=k for m by 64 { for k by 16 { for n by 16 { for m by 32 { for n by 8 "
            "{ kernel 32x8 } } } } }");
  EXPECT_EQ(read(c, "[L i [(12,6),(8,7)], T4,j, Rk, U*,i, U2,j, Vj]"),
            read(c, "[λseqi α. [(12,6),(8,7)],T4,j,T64,k,Uα,i,U2,j,Vj]"));
}

TEST(Scheme, Errors_say_where_and_what_to_write) {
  const Contraction c = layer("k=64,c=16,y=8,x=34,r=3,s=3,layout=nhwc");
  const auto said = [&](const std::string& scheme) {
    return message_of<InputError>([&] { parse_scheme(scheme, c, 16, "s"); });
  };
  const auto expect = [&](const std::string& scheme, const std::string& error) {
    EXPECT_TRUE(said(scheme).starts_with(error)) << said(scheme);
  };
  expect("", "s:1:1: '[' expected");
  expect("[T3,r\n,Q]", "s:2:2: T, U, R, V or λ expected");
  expect("[T0,r]", "s:1:3: a number from 1 to 2^30 expected");
  expect("[T3,q]", "s:1:5: a dimension expected; those of");
  expect("[T3,r] more", "s:1:8: the end expected");
  expect("[Vk,T3,r]", "s:1:2: V is not the innermost");
  expect("[Vc]", "s:1:2: vectors along a dimension that C has not");
  expect("[T5,x,Vk]", "s:1:2: 5 tiles of 1 do not divide the 34 of x");
  expect("[T2,x,T2,y,U17,x,Vk]", "s:1:7: y grows while x is not whole");
  expect("[U2,k,T2,k,Vk]", "s:1:2: U stands around a loop");
  expect("[Uα,x,Vk]", "s:1:2: no λ outside says what α is");
  expect("[λx [(2,11),(1,12)],U2,k,Vk]", "s:1:2: nothing inside λ has α");
  expect("[λx [(2,11)],Uα,x,Vk]", "s:1:2: 1 kernels one after the other");
  expect("[λx [(2,11),(1,13)],Uα,x,Vk]", "s:1:2: the tiles are more than the 34 of x");
  expect("[λx [(1,11),(1,12)],Uα,x,Vk]", "s:1:2: 23 tiles of 1 do not divide the 34 of x");
  expect("[λx [(2,11),(1,12)],Tα,x,Vk]", "s:1:22: α is not the first thing along its group");
  expect("[λx [(1,1),(1,1)],λx [(2,11),(1,12)],Uα,x,Vk]", "s:1:20: a second λ");
  expect("[Vk]", "s:1:1: the scheme covers 1 of the 16 of c; add Rc, or other factors");
}

TEST(Scheme, Prints_what_it_reads) {
  const Contraction c = layer("k=64,c=16,y=8,x=34,r=3,s=3,layout=nhwc32k");
  for (const char* scheme : {"[T2,k,T8,y,λx [(2,11),(1,12)],T3,r,T3,s,T16,c,Uα,x,U2,l,Vl]",
                             "[T8,y,T17,x,T2,k,T3,r,T3,s,T16,c,U2,x,U2,l,Vl]",
                             "[T3,r,T4,y,T2,x,T2,k,T2,y,T3,s,T16,c,U17,x,U2,l,Vl]"}) {
    const std::string text = scheme;
    if (text.find("T2,y,T3") != std::string::npos) {
      EXPECT_THROW(parse_scheme(text, c, 16, "s"), InputError);  // no range
      continue;
    }
    const Schedule s = parse_scheme(text, c, 16, "s");
    EXPECT_EQ(to_scheme(s, c, 16), text);
  }
}

TEST(Scheme, Has_no_packs_and_no_partial_tiles) {
  const Contraction c = layer("k=64,c=16,y=8,x=34,r=3,s=3,layout=nhwc32k");
  const auto scheme = [&](const std::string& text) {
    return to_scheme(parse_schedule("groups m=lk n=xyn k=csr " + text, c, "s"), c, 16);
  };
  EXPECT_FALSE(scheme("parallel m for n by 34 { for n by 17 { for m by 32 { kernel 32x17 } } }"));
  EXPECT_TRUE(scheme("for n by 34 { for n by 17 { for m by 32 { kernel 32x17 } } }"));
  EXPECT_FALSE(scheme("for n by 14 { for m by 32 { kernel 32x14 } }"));
  EXPECT_FALSE(scheme("for n by 17 { for m by 24 { kernel 24x17 } }"));
  EXPECT_FALSE(scheme("for n by 17 { pack A in L1 { for m by 32 { kernel 32x17 } } }"));
  EXPECT_FALSE(scheme("for k by 10 { for n by 17 { for m by 32 { kernel 32x17 } } }"));
}

// Whatever scheme a random schedule has reads back as a schedule that walks the same tiles.
TEST(Scheme, Of_random_schedules_reads_back) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    test::Random random(seed);
    const Contraction c = test::random_contraction(random);
    const Schedule s = test::random_schedule(c, random);
    const auto scheme = to_scheme(s, c, 1);
    if (!scheme || extent_of(c, s.groups[DimClass::m]) == 1) continue;
    ++found;
    const Schedule again = parse_scheme(*scheme, c, 1, "again");
    ASSERT_TRUE(is_legal(again, c)) << *scheme;
    ASSERT_EQ(to_scheme(again, c, 1), scheme) << to_line(s, c);
  }
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace tcsim
