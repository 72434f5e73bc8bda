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

TEST(Path, Interpreters_say_which_kind_of_schedule_they_do_not_do_yet) {
  const Contraction c = product();
  const auto said = [&](const std::string& tree) {
    const Schedule s = parse_schedule("groups m=a n=b k=c " + tree, c, "s");
    EXPECT_TRUE(is_legal(s, c)) << tree;
    return message_of<UnsupportedError>([&] { only_path(c, s); });
  };
  const std::string mend = "; these are not done yet: use loops and packs around one kernel";
  EXPECT_EQ(said("seq over m { part 22 { kernel 22x8 } part 12 { kernel 12x8 }}"),
            "ab-ac-cb: the schedule has parts of a range (seq over)" + mend);
  EXPECT_EQ(said("load A in L1 { kernel 34x8 }"),
            "ab-ac-cb: the schedule has explicit moves (load)" + mend);
  EXPECT_EQ(said("store C in L1 { kernel 34x8 }"),
            "ab-ac-cb: the schedule has explicit moves (store)" + mend);
  EXPECT_EQ(said("seq { part { pack A in L1 { kernel 34x8 }}}"), "(no error)");
}

}  // namespace
}  // namespace tcsim
