#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/random_schedule.hpp"
#include "tests/groups.hpp"

namespace tcsim {
namespace {

using test::message_of;

struct Case {
  const char* label;
  const char* sizes;
  const char* schedule;
  const char* message = "";  // begins what() of the error
};

const std::vector<std::string> cache_levels{"L1", "L2", "L3", "memory"};

std::string result_of(const Case& c) {
  const Contraction contraction =
      parse_contraction(c.label, parse_sizes(c.sizes), Layout::row_major, ElementType::f64);
  return message_of<InputError>(
      [&] { check(parse_schedule(c.schedule, contraction, "s"), contraction, cache_levels, "s"); });
}

constexpr const char* matmul = "ab-ac-cb";
constexpr const char* odd = "a=70,b=50,c=30";

TEST(Check, Accepts_schedules_that_compute_the_contraction) {
  const std::vector<Case> cases{
      // plain matrix multiplication, partial tiles everywhere
      {matmul, odd,
       "groups m=a n=b k=c for n by 32 { for k by 20 { pack B in L3 { for m by 48 { "
       "pack A in L2 { for n by 8 { for m by 24 { kernel 24x8 }}}}}}}"},
      // batch
      {"hab-hac-hcb", "a=7,b=5,c=3,h=2",
       "groups m=a n=b k=c batch=h for batch by 1 { pack A in L2 { for m by 4 { "
       "kernel 4x5 }}}"},
      // lanes of a batch, both operands packed, the right one column by column
      {"ha-hac-hc", "a=7,c=3,h=40",
       "groups m=h n=a k=c for n by 1 { pack A in L2 { for m by 16 { pack B in L2 { for m by 8 { "
       "kernel 8x1 }}}}}"},
      // outer product: no k
      {"ab-a-b", "a=9,b=8", "groups m=a n=b for m by 3 { for n by 4 { kernel 3x4 }}"},
      // full reduction: only k
      {"ab,ab->", "a=9,b=8", "groups k=ba pack A in L1 { for k by 10 { kernel 4x4 }}"},
      // m and n exchanged
      {matmul, odd, "groups m=b n=a k=c pack B in L2 { for m by 24 { for n by 8 { kernel 24x8 }}}"},
      // m alone exchanged, n empty: matrix times vector
      {"b-c-cb", "b=9,c=8", "groups m=b k=c for m by 4 { kernel 4x1 }"},
      // nothing packed, so tiles need not be whole micropanels
      {matmul, odd, "groups m=a n=b k=c for m by 7 { for n by 5 { kernel 24x8 }}"},
      // a pack below all loops over its rows
      {matmul, odd, "groups m=a n=b k=c for m by 7 { for n by 5 { pack A in L1 { kernel 24x8 }}}"},
      // loops over groups of extent 1 do nothing
      {"ab-a-b", "a=1,b=8",
       "groups m=a n=b for batch by 1 { for m by 1 { for k by 1 { pack A in L1 { for m by 1 "
       "{ kernel 4x8 }}}}}"},
      // the same tile twice; packs in one level
      {matmul, odd,
       "groups m=a n=b k=c for k by 4 { for k by 4 { pack B in L2 { pack A in L2 { "
       "for m by 24 { for n by 8 { kernel 24x8 }}}}}}"},
      // inside the pack of A the tile 20 runs once, so it cuts no micropanel
      {matmul, odd,
       "groups m=a n=b k=c for m by 20 { pack A in L2 { for m by 20 { for m by 8 { "
       "for n by 8 { kernel 8x8 }}}}}"},
      // every dimension in any order within its group
      {"abcd-aebf-dfce", "a=2,b=3,c=4,d=5,e=6,f=7",
       "groups m=ba n=dc k=fe for m by 4 { for n by 4 { kernel 4x4 }}"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schedule);
    EXPECT_EQ(result_of(c), "(no error)");
  }
}

TEST(Check, Reports_groups_that_do_not_agree_with_the_contraction) {
  const std::vector<Case> cases{
      {matmul, odd, "groups m=a n=b kernel 70x50",
       "s: dimension 'c' is in no group; write groups m=a n=b k=c, in any order"},
      {matmul, odd, "groups m=aa n=b k=c kernel 70x50",
       "s: dimension 'a' is in the groups twice; take one out"},
      {matmul, odd, "groups m=a n=b k=ca kernel 70x50", "s: dimension 'a' is in the groups twice"},
      {matmul, odd, "groups m=a n=b k=cx kernel 70x50",
       "s:1:19: 'x' in group k is not a dimension of ab-ac-cb; its dimensions are abc"},
      {matmul, odd, "groups m=a n=c k=b kernel 70x50",
       "s: group n is c, which does not agree with ab-ac-cb; write groups m=a n=b k=c"},
      {matmul, odd, "groups m=ab k=c kernel 3500x1", "s: group m is ab, which do not agree"},
      {matmul, odd, "groups n=ba k=c kernel 1x3500", "s: group n is ba, which do not agree"},
      {matmul, odd, "groups m=a n=b batch=c for batch by 1 { kernel 70x50 }",
       "s: group batch is c, which does not agree"},
      {"hab-hac-hcb", "a=7,b=5,c=3,h=2", "groups m=ah n=b k=c kernel 14x5",
       "s: group m is ah, which do not agree with hab-hac-hcb; write groups m=a n=b k=c "
       "batch=h"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schedule);
    const std::string error = result_of(c);
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

TEST(Check, Reports_tiles_that_do_not_nest_and_batch_loops_out_of_place) {
  const std::vector<Case> cases{
      {matmul, odd, "groups m=a n=b k=c for m by 71 { kernel 71x50 }",
       "s: 'for m by 71' stands where m has a range of 70; use a tile of 70 or less"},
      {matmul, odd, "groups m=a n=b k=c for k by 8 { for k by 9 { kernel 70x50 }}",
       "s: 'for k by 9' stands where k has a range of 8; use a tile of 8 or less"},
      {"ab-a-b", "a=9,b=8", "groups m=a n=b for k by 2 { kernel 9x8 }",
       "s: 'for k by 2' stands where k has a range of 1; use a tile of 1 or less"},
      {"hab-hac-hcb", "a=7,b=5,c=3,h=4", "groups m=a n=b k=c batch=h for batch by 2 { kernel 7x5 }",
       "s: no loop runs over batch; put for batch by 1 around the kernel"},
      {"hab-hac-hcb", "a=7,b=5,c=3,h=4",
       "groups m=a n=b k=c batch=h for batch by 1 { for batch by 1 { kernel 7x5 }}",
       "s: 'for batch by 1' stands inside for batch by 1; take it out"},
      {"hab-hac-hcb", "a=7,b=5,c=3,h=4",
       "groups m=a n=b k=c batch=h for batch by 2 { for batch by 3 { kernel 7x5 }}",
       "s: 'for batch by 3' stands where batch has a range of 2"},
      {"hab-hac-hcb", "a=7,b=5,c=3,h=4", "groups m=a n=b k=c batch=h kernel 7x5",
       "s: no loop runs over batch; put for batch by 1 around the kernel"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schedule);
    const std::string error = result_of(c);
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

TEST(Check, Reports_a_kernel_that_does_not_cover_its_range) {
  const std::vector<Case> cases{
      {matmul, odd, "groups m=a n=b k=c for m by 24 { kernel 24x8 }",
       "s: 'kernel 24x8' does not cover the 50 of n that are left to it; put for n by 8"},
      {matmul, odd, "groups m=a n=b k=c for m by 25 { for n by 8 { kernel 24x8 }}",
       "s: 'kernel 24x8' does not cover the 25 of m that are left to it; put for m by 24"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schedule);
    const std::string error = result_of(c);
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

TEST(Check, Reports_packs_that_do_not_nest_or_are_cut) {
  const std::vector<Case> cases{
      {matmul, odd, "groups m=a n=b k=c pack A in L3 { pack A in L2 { kernel 70x50 }}",
       "s: 'pack A in L2' inside another pack of A; keep one of them"},
      {matmul, odd, "groups m=a n=b k=c pack A in L4 { kernel 70x50 }",
       "s: 'pack A in L4' names no level of the machine; use one of L1, L2, L3, memory"},
      {matmul, odd, "groups m=a n=b k=c pack A in L2 { pack B in L3 { kernel 70x50 }}",
       "s: 'pack B in L3' stands inside a pack in L2, which is smaller"},
      {matmul, odd,
       "groups m=a n=b k=c pack A in L2 { for m by 30 { for m by 24 { kernel 24x50 }}}",
       "s: 'for m by 30' inside the pack of A cuts its micropanels of 24 rows; use a "
       "multiple of 24"},
      {matmul, odd, "groups m=a n=b k=c pack B in L2 { for n by 4 { for m by 24 { kernel 24x8 }}}",
       "s: 'for n by 4' inside the pack of B cuts its micropanels of 8 rows"},
      // exchanged: the rows of B are in group m
      {matmul, odd, "groups m=b n=a k=c pack B in L2 { for m by 4 { for n by 24 { kernel 8x24 }}}",
       "s: 'for m by 4' inside the pack of B cuts its micropanels of 8 rows"},
      // lanes: rows of both are in group m, and the right operand has columns for each
      {"ha-hac-hc", "a=7,c=3,h=40",
       "groups m=h n=a k=c for n by 7 { pack A in L2 { for m by 8 { kernel 8x7 }}}",
       "s: 'pack A in L2' packs an operand that has both m and n, as m holds a batch; read it in "
       "place: take the pack out; or pack inside for n by 1"},
      {"ha-hac-hc", "a=7,c=3,h=40",
       "groups m=h n=a k=c for n by 1 { pack A in L2 { for m by 12 { for m by 8 { kernel 8x1 }}}}",
       "s: 'for m by 12' inside the pack of A cuts its micropanels of 8 rows; use a multiple"},
      {"ha-hac-hc", "a=7,c=3,h=40",
       "groups m=h n=a k=c for m by 1 { for n by 1 { kernel 1x1 along k }}",
       "s: 'kernel 1x1 along k' has vectors along k, and group m a batch; take \"along k\" out"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schedule);
    const std::string error = result_of(c);
    EXPECT_EQ(error.rfind(c.message, 0), 0U) << error;
  }
}

// Of m=34: 22 rows by kernels of 11, then 12 by one of 12 (ttile composes kernels so).
TEST(Check, Parts_cover_a_range_one_after_another) {
  const char* sizes = "a=34,b=8,c=6";
  const std::vector<Case> cases{
      {matmul, sizes,
       "groups m=a n=b k=c seq over m { part 22 { for m by 11 { kernel 11x8 }} "
       "part 12 { kernel 12x8 }}"},
      {matmul, sizes,
       "groups m=a n=b k=c pack B in L2 { seq over m { part 22 { for m by 11 { kernel 11x8 }} "
       "part 12 { kernel 12x8 }}}"},
      {matmul, sizes,
       "groups m=a n=b k=c seq { part { load A in L1 { store C in L1 { kernel 34x8 }}}}"},
      {matmul, sizes,
       "groups m=a n=b k=c seq over k { part 4 { kernel 34x8 } part 2 { kernel 34x8 }}"},
      {matmul, sizes,
       "groups m=a n=b k=c seq over m { part 22 { kernel 22x8 } part 13 { kernel 13x8 }}",
       "s: the parts of 'seq over m' are 35 together, where m has a range of 34; make them"},
      {matmul, sizes, "groups m=a n=b k=c seq over m { part 22 { kernel 22x8 }}",
       "s: the parts of 'seq over m' are 22 together, where m has a range of 34"},
      {matmul, sizes,
       "groups m=a n=b k=c seq over m { part 1099511627776 { kernel 22x8 } part 1099511627776 { "
       "kernel 1x8 }}",
       "s: the parts of 'seq over m' are 2199023255552 together"},
      {matmul, sizes,
       "groups m=a n=b k=c seq over m { part 22 { kernel 11x8 } part 12 { kernel 12x8 }}",
       "s: 'kernel 11x8' does not cover the 22 of m that are left to it"},
      {matmul, sizes, "groups m=a n=b k=c seq { part { kernel 34x8 } part { kernel 34x8 }}",
       "s: 'seq' does statement 0 more than once"},
      {matmul, sizes,
       "groups m=a n=b k=c pack A in L2 { seq over m { part 22 { for m by 11 { kernel 11x8 }} "
       "part 12 { kernel 12x8 }}}",
       "s: 'pack A in L2' holds micropanels of 11 and of 12 rows; pack inside each part"},
      {matmul, sizes,
       "groups m=a n=b k=c pack A in L2 { seq over m { part 20 { for m by 12 { kernel 12x8 }} "
       "part 14 { for m by 12 { kernel 12x8 }}}}",
       "s: 'part 20' inside the pack of A cuts its micropanels of 12 rows; use a multiple of 12"},
      {"hab-hac-hcb", "a=7,b=5,c=3,h=4",
       "groups m=a n=b k=c batch=h seq over batch { part 2 { kernel 7x5 } part 2 { kernel 7x5 }}",
       "s: 'seq over batch' cuts the batch"},
      {matmul, sizes, "groups m=a n=b k=c store B in L1 { kernel 34x8 }",
       "s: 'store B in L1' stores an input; load it, or store C"},
      {matmul, sizes, "groups m=a n=b k=c load A in L1 { load B in L3 { kernel 34x8 }}",
       "s: 'load B in L3' stands inside a pack in L1, which is smaller"},
      {matmul, sizes, "groups m=a n=b k=c pack A in L1 { for m by 1 { kernel 1x8 along k }}", ""},
      {matmul, sizes, "groups m=a n=b k=c pack A in L1 { for m by 2 { kernel 2x8 along k }}",
       "s: 'kernel 2x8 along k' stands inside a pack of A, whose micropanels have 2 rows; use a "
       "kernel with one of them"},
      {matmul, sizes,
       "groups m=a n=b k=c pack B in L1 { for m by 4 { for n by 1 { kernel 4x1 along k }}}", ""},
      {matmul, sizes, "groups m=a n=b k=c kernel 34x8 of 1",
       "s: 'kernel 34x8 of 1' is of statement 1, which ab-ac-cb does not have"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schedule);
    const std::string error = result_of(c), wanted = *c.message ? c.message : "(no error)";
    EXPECT_EQ(error.rfind(wanted, 0), 0U) << error;
  }
}

// Three tensors and the buffers of 13 moves are max_arrays. Only moves on the same path count.
TEST(Check, A_path_has_a_buffer_for_each_of_at_most_13_moves) {
  const auto moves = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += i % 2 == 0 ? "load A in L1 { " : "store C in L1 { ";
    return text;
  };
  const auto closed = [](int count) { return std::string(static_cast<std::size_t>(count), '}'); };
  const std::string groups = "groups m=a n=b k=c ", kernel = "kernel 34x8 ";
  const std::string most = groups + moves(13) + kernel + closed(13);
  EXPECT_EQ(result_of({matmul, "a=34,b=8,c=6", most.c_str()}), "(no error)");
  const std::string parts = groups + "seq over k { part 4 { " + moves(13) + kernel + closed(13) +
                            "} part 2 { " + moves(13) + kernel + closed(13) + "}}";
  EXPECT_EQ(result_of({matmul, "a=34,b=8,c=6", parts.c_str()}), "(no error)");
  const std::string more = groups + "pack B in L1 { " + moves(13) + kernel + closed(14);
  EXPECT_EQ(result_of({matmul, "a=34,b=8,c=6", more.c_str()}),
            "s: 'load A in L1' stands inside 13 other moves, and each has a buffer; use at most 13 "
            "moves on the way to a kernel");
}

// Trees that no text can say.
TEST(Check, Reports_trees_that_the_parser_cannot_make) {
  const Contraction c =
      parse_contraction(matmul, parse_sizes(odd), Layout::row_major, ElementType::f64);
  const Node kernel{Kernel{Elements(70), Elements(50)}};
  const auto result = [&](Node root) {
    const Schedule s{test::groups(c, {"a", "b", "c", ""}), std::move(root)};
    return message_of<InputError>([&] { check(s, c, cache_levels, "s"); });
  };
  EXPECT_EQ(result(kernel), "(no error)");
  EXPECT_EQ(
      result({Loop{DimClass::m, Elements(70), {}}}).rfind("s: 'for m by 70' has nothing inside", 0),
      0U);
  EXPECT_EQ(result({Move{Move::Kind::pack, TensorId::A, "L1", {}}})
                .rfind("s: 'pack A in L1' has nothing inside", 0),
            0U);
  EXPECT_EQ(result({Loop{DimClass::m, Elements(0), kernel}})
                .rfind("s: 'for m by 0' has a tile below 1", 0),
            0U);
  EXPECT_EQ(result({Move{Move::Kind::pack, TensorId::C, "L1", kernel}})
                .rfind("s: 'pack C in L1' packs the output; pack A or B", 0),
            0U);
  EXPECT_EQ(
      result({Move{Move::Kind::pack, TensorId::A, "L1", Node{Kernel{Elements(0), Elements(50)}}}})
          .rfind("s: 'kernel 0x50' has a side that is not between 1 and 1024", 0),
      0U);
}

TEST(Check, Accepts_random_schedules_made_by_its_rules) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random random(seed);
    const Contraction c = test::random_contraction(random);
    const Schedule s = test::random_schedule(c, random);
    ASSERT_NO_THROW(check(s, c, test::random_levels(), "s")) << c.label() << ' ' << to_line(s, c);
  }
}

}  // namespace
}  // namespace tcsim
