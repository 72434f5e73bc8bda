// Others' tilings as schedules: they are legal, have the kernels that were published, and nest.
#include "bench/tilings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/contraction_view.hpp"
#include "core/workload/suite.hpp"

namespace tcsim::bench {
namespace {

Contraction layer(const std::string& sizes, const std::string& layout) {
  return contraction_of(parse_convolution("conv2d", sizes, ElementType::f32, layout));
}

TEST(Composition, Of_every_layer_covers_its_row) {
  int layers = 0;
  for (const char* name : {"yolo9000", "resnet18"}) {
    const Suite suite = find_suite(name);
    for (std::size_t i = 0; i < suite.workloads.size(); ++i) {
      const auto composition = composition_of(suite.workloads[i].name());
      ASSERT_TRUE(composition) << suite.workloads[i].name();
      const std::int64_t row = suite.shapes[i]->axes.back().output;
      EXPECT_EQ(row % composition->columns(), 0) << suite.workloads[i].name();
      ++layers;
    }
  }
  EXPECT_EQ(layers, 23);
  EXPECT_EQ(composition_of("yolo9000:7")->text(), "2 11H1K + 12H1K");
  EXPECT_EQ(composition_of("yolo9000:2")->text(), "4H4K");
  EXPECT_FALSE(composition_of("tccg:1"));
}

// yolo9000:7 with fewer channels: 34 = 2 x 11 + 12 columns of one vector of 16 channels.
TEST(Composition, Becomes_a_schedule_with_its_kernels) {
  const Machine machine = find_machine("zen5");
  const Contraction c = layer("k=32,c=16,h=34,w=34,r=3,s=3", "nhwc16k");
  const Tiling own = optimize(c, machine).tiling;
  const auto schedule = composed(c, machine, own, *composition_of("yolo9000:7"));
  ASSERT_TRUE(schedule);
  EXPECT_TRUE(is_legal(*schedule, c));
  const std::string text = to_line(*schedule, c);
  EXPECT_NE(text.find("seq over n { part 22 { for n by 11 { kernel 16x11 } } "
                      "part 12 { kernel 16x12 } }"),
            std::string::npos)
      << text;
  const auto alone = composed(c, machine, own, {1, {{1, 17}}});
  ASSERT_TRUE(alone);
  EXPECT_NE(to_line(*alone, c).find("for n by 17 { kernel 16x17 }"), std::string::npos);
  // yolo9000:8: columns of a 1 x 1 filter need no rows.
  const Contraction point = layer("k=64,c=16,h=34,w=34", "nhwc32k");
  const auto points =
      composed(point, machine, optimize(point, machine).tiling, *composition_of("yolo9000:8"));
  ASSERT_TRUE(points);
  EXPECT_NE(to_line(*points, point)
                .find("part 20 { for n by 10 { kernel 32x10 } } "
                      "part 14 { kernel 32x14 }"),
            std::string::npos)
      << to_line(*points, point);
  // No whole number of these is a row; and 2 x 17 results take more registers than there are.
  EXPECT_FALSE(composed(c, machine, own, {1, {{1, 12}}}));
  EXPECT_FALSE(composed(c, machine, own, {2, {{1, 17}}}));
}

TEST(Recommended_tiling, Nests_and_leaves_the_kernel_as_it_is) {
  const Machine machine = find_machine("i7-6700k");
  for (const char* sizes : {"k=64,c=32,h=20,w=30,r=3,s=3", "k=32,c=64,h=28,w=28"}) {
    const Contraction c = layer(sizes, "nhwc32k");
    const Tiling own = optimize(c, machine).tiling;
    const auto tiling = recommended_tiling(c, machine, own);
    ASSERT_TRUE(tiling);
    EXPECT_EQ(tiling->kernel, own.kernel);
    EXPECT_EQ(tiling->groups, own.groups);
    for (std::size_t g = 0; g < 3; ++g) {
      std::int64_t outer = group_extent(c, *tiling, g);
      for (std::size_t l = tiling->tiles.size(); l-- > 0;) {
        EXPECT_GE(tiling->tiles[l][g], 1);
        // Up to a register tile more, where that is more than there is.
        EXPECT_LT(tiling->tiles[l][g], outer + std::max(own.kernel.mr, own.kernel.nr).value())
            << sizes << " group " << g << " level " << l;
        outer = tiling->tiles[l][g];
      }
    }
    EXPECT_TRUE(is_legal(build(c, machine, *tiling), c));
  }
}

// Where memory is slow beside the other links, what moves over it is the least there can be.
TEST(Recommended_tiling, Weighs_links_by_the_time_they_take) {
  const Contraction c = layer("k=256,c=128,h=20,w=20,r=3,s=3", "nhwc32k");
  Machine machine = find_machine("i7-6700k");
  machine.levels[2].capacity.value = Bytes(128 << 10);
  const Tiling own = optimize(c, machine).tiling;
  const auto even = recommended_tiling(c, machine, own);
  machine.levels[1].bandwidth = machine.levels.back().bandwidth;
  machine.levels[2].bandwidth = machine.levels.back().bandwidth;
  const auto other = recommended_tiling(c, machine, own);
  ASSERT_TRUE(even && other);
  EXPECT_NE(even->tiles, other->tiles);
}

}  // namespace
}  // namespace tcsim::bench
