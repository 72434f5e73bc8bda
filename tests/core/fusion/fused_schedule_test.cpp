// The text of fused schedules, what makes one legal, and its traffic in closed form against a
// replay of every transfer, on schedules that no optimizer would choose.
#include "core/fusion/fused_schedule.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/error.hpp"
#include "core/fusion/replay.hpp"
#include "core/model/countable.hpp"
#include "tests/core/fusion/any_schedule.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/core/fusion/interpreter.hpp"
#include "tests/seed.hpp"

namespace tcsim::fusion {
namespace {

constexpr const char* fused_pair =
    "for a by 4 { hold T { seq { for p by 5 { load C { load A { do T } } } "
    "load D { store B { do B } } } } }";

std::string refused(const OperationTree& tree, const std::string& text) {
  try {
    check(tree, parse_fused(text, tree, "given"), "given");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

void expect_refused(const std::string& text, const std::string& message) {
  EXPECT_EQ(refused(pair_of(10), text), message) << text;
}

TEST(FusedScheduleText, ReadsBack) {
  const OperationTree tree = pair_of(10);
  const FusedNode node = parse_fused(fused_pair, tree, "given");
  EXPECT_NO_THROW(check(tree, node, "given"));
  EXPECT_EQ(to_text(tree, node),
            "for a by 4 {\n"
            "  hold T {\n"
            "    seq {\n"
            "      for p by 5 {\n"
            "        load C {\n"
            "          load A {\n"
            "            do T\n"
            "          }\n"
            "        }\n"
            "      }\n"
            "      load D {\n"
            "        store B {\n"
            "          do B\n"
            "        }\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(parse_fused(to_text(tree, node), tree, "again"), node);
}

TEST(FusedScheduleText, CallsATensorThatSeveralReadByItsReader) {
  const OperationTree tree = operation_tree(parse_program(R"(
program shared
dims a=4 b=4 p=4 q=4
f64 input A[p, q]  f64 input C[a, p]
f64 intermediate T[a, q]
f64 output B[a, b]
T[a, q] += C[a, p] * A[p, q]
B[a, b] += T[a, q] * C[b, q]
)",
                                                          "test"));
  const std::string text =
      "hold T { seq { load C:T { load A { do T } } load C:B { store B { do B } } } }";
  const FusedNode node = parse_fused(text, tree, "given");
  EXPECT_NO_THROW(check(tree, node, "given"));
  EXPECT_EQ(parse_fused(to_text(tree, node), tree, "given"), node);
  EXPECT_THROW(parse_fused("load C { do T }", tree, "given"), InputError);
}

TEST(FusedScheduleText, SaysWhereItIsWrong) {
  const OperationTree tree = pair_of(10);
  const auto said = [&](const std::string& text, const std::string& place,
                        const std::string& problem) {
    try {
      parse_fused(text, tree, "given");
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.place(), place) << text;
      EXPECT_EQ(e.problem(), problem) << text;
      EXPECT_FALSE(e.mend().empty());
    }
  };
  said("for z by 4 { do T }", "given:1:5", "an index of the chain expected, found \"z\"");
  said("for a of 4 { do T }", "given:1:7", "\"by\" expected, found \"of\"");
  said("for a by x { do T }", "given:1:10", "a tile size expected, found \"x\"");
  said("for a by 0 { do T }", "given:1:10", "a tile size expected, found \"0\"");
  said("for a by 4x { do T }", "given:1:10", "a tile size expected, found \"4x\"");
  said("for a by 99999999999999999999 { do T }", "given:1:10",
       "a tile size expected, found \"99999999999999999999\"");
  said("hold\n  Q { do T }", "given:2:3", "a tensor of the chain expected, found \"Q\"");
  said("hold T { do A }", "given:1:13", "a tensor that a statement makes expected, found \"A\"");
  said("hold T { do T", "given:1:14", "\"}\" expected, found the end");
  said("hold T { do T } do B", "given:1:17", "the end expected, found \"do\"");
  said("do T }", "given:1:6", "the end expected, found \"}\"");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "seq { ";
  EXPECT_THROW(parse_fused(deep, tree, "given"), InputError);
  EXPECT_THROW(parse_fused("", tree, "given"), InputError);
  EXPECT_THROW(parse_fused("hold T { }", tree, "given"), InputError);
}

TEST(FusedScheduleCheck, WantsEveryStatementOnce) {
  expect_refused("load C { load A { store T { do T } } }",
                 "given: no 'do B'; do every statement once");
  expect_refused("hold T { load C { load A { seq { do T do T } } } }",
                 "given: 'do T' is there twice; do every statement once");
  expect_refused("seq { }", "given: 'seq' has no parts; write seq { ... } around some");
}

TEST(FusedScheduleCheck, WantsProducersFirst) {
  expect_refused("load C { load A { load D { store B { hold T { seq { do B do T } } } } } }",
                 "given: 'do B' where 'do T' was not yet done; put it behind that, both in one "
                 "hold T");
  expect_refused("load D { store B { load T { do B } } }",
                 "given: 'load T' before it is stored; store it in an earlier part");
}

TEST(FusedScheduleCheck, WantsLoopsOverOwnIndicesOfTilesWithinTheirRange) {
  expect_refused("for b by 2 { load C { load A { store T { do T } } } }",
                 "given: 'do T' is inside a loop over b, which it does not have; move it out of "
                 "that loop");
  expect_refused(
      "for a by 11 { load C { load A { store T { do T } } } }",
      "given: 'for a by 11' stands where a has a range of 10; use a tile from 1 to that");
  expect_refused("for a by 4 { for a by 5 { load C { load A { store T { do T } } } } }",
                 "given: 'for a by 5' stands where a has a range of 4; use a tile from 1 to that");
}

TEST(FusedScheduleCheck, WantsWhatIsReadAndWrittenInMemory) {
  expect_refused("load C { store T { do T } }",
                 "given: 'do T' where A is not in memory; put load A around it");
  expect_refused("load C { load A { do T } }",
                 "given: 'do T' where T is not in memory; put store T around it");
  expect_refused("seq { load C { load A { store T { do T } } } load D { store B { do B } } }",
                 "given: 'do B' where T is not in memory; put load T around it");
}

TEST(FusedScheduleCheck, WantsInputsLoadedAndOutputsStored) {
  expect_refused("hold C { do T }", "given: 'hold C' of an input; write load C");
  expect_refused("store A { do T }", "given: 'store A' of an input; write load A");
  expect_refused("hold B { do B }", "given: 'hold B' of an output; write store B");
  expect_refused("load B { do B }", "given: 'load B' of an output; write store B");
}

TEST(FusedScheduleCheck, WantsEachHeldOnce) {
  expect_refused("load C { load C { do T } }",
                 "given: 'load C' inside another of it; keep one of them");
  // Each part alone is whole, but one of the loads is of no use.
  expect_refused(
      "seq { hold T { load D { seq { load C { load A { do T } } store B { do B } } } } "
      "load C { load A { do T } } }",
      "given: 'do T' is there twice; do every statement once");
}

// An output's tile that a later hold finds would be read, and traffic() could not know.
TEST(FusedScheduleCheck, RefusesWhatIsHeldForNothing) {
  expect_refused("load C { load A { store T { store B { do T } } } }",
                 "given: 'store B' without 'do B' inside; put it around that, or take it out");
  expect_refused("load D { load C { load A { store T { do T } } } }",
                 "given: 'load D' without 'do B' inside; put it around that, or take it out");
  expect_refused("hold T { load C { load A { do T } } }",
                 "given: 'hold T' without 'do B' inside; put it around that, or take it out");
  expect_refused(
      "seq { load C { load A { store T { do T } } } load C { load T { load D { store B "
      "{ do B } } } } }",
      "given: 'load C' without 'do T' inside; put it around that, or take it out");
}

TEST(FusedScheduleTraffic, OfAnySchedulesIsWhatAReplayCounts) {
  std::mt19937_64 random(test::new_seed());
  int read_back = 0, on_disk = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const OperationTree tree = operation_tree(random_chain_program(random, 1 + trial % 4, 5));
    const FusedNode node = AnySchedule(tree, random).draw();
    SCOPED_TRACE(to_text(tree, node));
    ASSERT_NO_THROW(check(tree, node, "drawn"));
    EXPECT_EQ(parse_fused(to_text(tree, node), tree, "drawn"), node);
    for (Buffering buffering : {Buffering::single, Buffering::twofold}) {
      EXPECT_EQ(traffic(tree, node, buffering), replay(tree, node, buffering));
    }
    if (trial % 4 == 0) {
      EXPECT_EQ(results(tree, node), results(tree, in_memory(tree)));
    }
    const DiskTraffic moved = traffic(tree, node);
    for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
      if (tree.arrays[a].consumer < 0) read_back += moved.arrays[a].read > 0;
      if (tree.arrays[a].consumer >= 0) on_disk += moved.arrays[a].written > 0;
    }
  }
  // Sums that are cut, and intermediates that go through the disk.
  EXPECT_GT(read_back, 20);
  EXPECT_GT(on_disk, 20);
}

TEST(FusedScheduleTraffic, OfAScheduleByHand) {
  // a is cut into 4, 4 and 2, p into 5 and 5.
  const OperationTree tree = pair_of(10);
  const DiskTraffic moved = traffic(tree, parse_fused(fused_pair, tree, "given"));
  const auto of = [&](const char* name) {
    const auto at = std::ranges::find(tree.arrays, name, &OperationTree::Array::name);
    return moved.arrays[static_cast<std::size_t>(at - tree.arrays.begin())];
  };
  EXPECT_EQ(of("C"), (DiskTraffic::OfArray{800, 0, 6, 0}));
  EXPECT_EQ(of("A"), (DiskTraffic::OfArray{2400, 0, 6, 0}));
  EXPECT_EQ(of("D"), (DiskTraffic::OfArray{2400, 0, 3, 0}));
  EXPECT_EQ(of("B"), (DiskTraffic::OfArray{0, 800, 0, 3}));
  EXPECT_EQ(of("T"), (DiskTraffic::OfArray{}));
  // T of 4 x 10, and the larger of C 4 x 5 with A 5 x 10, and D 10 x 10 with B 4 x 10.
  EXPECT_EQ(moved.memory, Bytes(8 * (40 + 100 + 40)));
  // T with C, A once for each of 3 x 2 tiles, T twice.
  EXPECT_EQ(moved.statements[0].runs, 6);
  EXPECT_EQ(moved.statements[0].passed, 800 + 3 * 800 + 2 * 2 * 800);
}

TEST(FusedScheduleTraffic, EndsAtTwoToTheSixtyTwo) {
  const OperationTree tree = pair_of(1 << 20);  // a tensor has 2^43 bytes
  const auto of = [&](int c, int d) {
    return traffic(tree,
                   parse_fused(fmt::format("seq {{ load A {{ store T {{ for q by {} {{ load C {{ "
                                           "do T }} }} }} }} load T {{ store B {{ for a by {} {{ "
                                           "load D {{ do B }} }} }} }} }}",
                                           c, d),
                               tree, "given"));
  };
  EXPECT_EQ(of(4, 1 << 20).sum().read, (std::int64_t{1} << 61) + 3 * (std::int64_t{1} << 43));
  EXPECT_THROW(of(2, 1 << 20), TooLargeError);  // of one tensor
  EXPECT_THROW(of(4, 4), TooLargeError);        // of two together
  EXPECT_NO_THROW(of(4, 8));
}

}  // namespace
}  // namespace tcsim::fusion
