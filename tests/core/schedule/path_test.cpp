#include "core/schedule/path.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim {
namespace {

using test::message_of;

Contraction product() {
  return parse_contraction("ab-ac-cb", parse_sizes("a=34,b=8,c=6"), Layout::row_major,
                           ElementType::f64);
}

TEST(Path, There_is_one_to_each_kernel_with_the_steps_that_lead_there) {
  const Contraction c = product();
  const Schedule s = parse_schedule(
      "groups m=a n=b k=c for k by 3 { seq over m { part 22 { for m by 11 { kernel 11x8 }} "
      "part 12 { pack A in L1 { kernel 12x8 }}}}",
      c, "s");
  const std::vector<Path> paths = paths_of(c, s);
  ASSERT_EQ(paths.size(), 2U);
  using Kind = Step::Kind;
  const auto kinds = [](const Path& path) {
    std::vector<Kind> all;
    for (const Step& step : path.steps) all.push_back(step.kind);
    return all;
  };
  EXPECT_EQ(kinds(paths[0]), (std::vector{Kind::loop, Kind::part, Kind::loop, Kind::kernel}));
  EXPECT_EQ(kinds(paths[1]), (std::vector{Kind::loop, Kind::part, Kind::move, Kind::kernel}));
  EXPECT_EQ(paths[0].steps[1].begin, 0);
  EXPECT_EQ(paths[0].steps[1].tile, 22);
  EXPECT_EQ(paths[1].steps[1].begin, 22);
  EXPECT_EQ(paths[1].steps[1].tile, 12);
  EXPECT_EQ(paths[1].steps[2].tensor, TensorId::A);
  EXPECT_EQ(paths[0].mr, 11);
  EXPECT_EQ(paths[1].mr, 12);
  EXPECT_EQ(paths[0].extents, (ByGroup<std::int64_t>{34, 8, 6, 1}));
  EXPECT_EQ(kernels_of(s.root),
            (std::vector<Kernel>{{Elements(11), Elements(8)}, {Elements(12), Elements(8)}}));
}

TEST(Path, Two_parts_that_differ_in_their_tile_are_one_loop) {
  const Contraction c = product();
  const Schedule s = parse_schedule(
      "groups m=a n=b k=c pack B in L1 { for k by 3 { seq over m { part 22 { for m by 11 { kernel "
      "11x8 }} part 12 { kernel 12x8 }}}}",
      c, "s");
  const Path path = only_path(c, s);
  ASSERT_EQ(path.steps.size(), 4U);
  const Step& loop = path.steps[2];
  EXPECT_EQ(loop.kind, Step::Kind::loop);
  EXPECT_EQ(loop.group, DimClass::m);
  EXPECT_EQ(loop.head, 22);
  EXPECT_EQ(loop.head_tile, 11);
  EXPECT_EQ(loop.tile, 12);
  EXPECT_EQ(path.mr, 12);
  std::vector<std::int64_t> tiles;
  for (std::int64_t i = 0; i < 34; i += tiles.back()) tiles.push_back(loop.tile_at(i, 34));
  EXPECT_EQ(tiles, (std::vector<std::int64_t>{11, 11, 12}));
  EXPECT_EQ(loop.iterations(34), 3);
  EXPECT_EQ(loop.iterations(12), 2);  // of a range that ends sooner
  EXPECT_EQ(loop.tile_at(11, 12), 1);
  EXPECT_DOUBLE_EQ(loop.mean_tile(34), 34 / 3.0);
  EXPECT_EQ(loop.largest_tile(), 12);
}

TEST(Path, Loops_keep_kernels_to_rows) {
  const Contraction c = product();
  const auto keep = [&](const std::string& tree) {
    const Path path = only_path(c, parse_schedule("groups m=a n=b k=c " + tree, c, "s"));
    return keep_to_rows(path.steps, DimClass::m, path.extents[DimClass::m], 10);
  };
  EXPECT_TRUE(keep("for m by 10 { for m by 4 { kernel 4x8 } }"));
  EXPECT_TRUE(keep("for m by 5 { kernel 5x8 }"));
  EXPECT_TRUE(keep("for m by 20 { for k by 2 { for m by 10 { for m by 4 { kernel 4x8 } } } }"));
  EXPECT_TRUE(keep("for m by 15 { for m by 5 { kernel 5x8 } }"));
  EXPECT_FALSE(keep("for m by 4 { kernel 4x8 }"));
  EXPECT_FALSE(keep("for m by 24 { for m by 10 { for m by 4 { kernel 4x8 } } }")) << "from 24 on";
  EXPECT_FALSE(keep("for k by 2 { kernel 34x8 }"));
}

TEST(Path, Interpreters_say_which_kind_of_schedule_they_do_not_do_yet) {
  const Contraction c = product();
  const auto said = [&](const std::string& tree) {
    const Schedule s = parse_schedule("groups m=a n=b k=c " + tree, c, "s");
    EXPECT_TRUE(is_legal(s, c)) << tree;
    return message_of<UnsupportedError>([&] { only_path(c, s); });
  };
  const std::string mend = "; these are not done yet: use loops and packs around one kernel";
  EXPECT_EQ(said("seq over m { part 20 { kernel 20x8 } part 12 { kernel 12x8 } part 2 { kernel "
                 "2x8 }}"),
            "ab-ac-cb: the schedule has more than two parts in sequence (seq)" + mend);
  EXPECT_EQ(said("seq over m { part 34 { kernel 34x8 }}"),
            "ab-ac-cb: the schedule has parts of a range (seq over)" + mend);
  const std::string differ =
      "ab-ac-cb: the schedule has parts of a range that differ in more than their tile" + mend;
  EXPECT_EQ(said("seq over m { part 22 { kernel 22x8 } part 12 { for k by 2 { kernel 12x8 }}}"),
            differ);
  EXPECT_EQ(said("seq over m { part 22 { kernel 22x8 } part 12 { kernel 12x9 }}"), differ);
  EXPECT_EQ(said("pack A in L1 { seq over m { part 24 { for m by 12 { kernel 12x8 }} part 10 { "
                 "kernel 12x8 }}}"),
            "ab-ac-cb: the schedule has parts of a range that the pack of A holds" + mend);
  const std::string more =
      "ab-ac-cb: the schedule has parts of a range with more than a loop over it inside" + mend;
  EXPECT_EQ(said("seq over m { part 22 { pack B in L1 { kernel 22x8 }} part 12 { pack B in L1 { "
                 "kernel 12x8 }}}"),
            more);
  EXPECT_EQ(said("seq over m { part 22 { for m by 12 { for m by 4 { kernel 4x8 }}} part 12 { for "
                 "m by 12 { for m by 4 { kernel 4x8 }}}}"),
            more);
  EXPECT_EQ(said("load A in L1 { kernel 34x8 }"),
            "ab-ac-cb: the schedule has explicit moves (load)" + mend);
  EXPECT_EQ(said("store C in L1 { kernel 34x8 }"),
            "ab-ac-cb: the schedule has explicit moves (store)" + mend);
  EXPECT_EQ(said("seq { part { pack A in L1 { kernel 34x8 }}}"), "(no error)");
}

}  // namespace
}  // namespace tcsim
