#include "core/model/held_tiles.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/request.hpp"

namespace tcsim {
namespace {

TEST(HeldTiles, Fit_their_caches_and_grow_outward) {
  const Contraction c = find_workload({"tccg:29", "", {}, {}});
  const Machine m = find_machine("e5-2680v4");
  const auto held = held_tiles(c, optimize(c, m).schedule, m);
  ASSERT_EQ(held.size(), 3u);
  Bytes inner;
  for (const HeldInCache& h : held) {
    ASSERT_TRUE(h.tile);
    EXPECT_LE(h.tile->total(), h.capacity);
    EXPECT_GE(h.tile->total(), inner);
    inner = h.tile->total();
  }
  EXPECT_EQ(held[2].capacity, Bytes(35 << 20));
}

TEST(HeldTiles, A_small_workload_is_held_whole_everywhere_it_fits) {
  // 3 x 32 x 32 x 8 bytes = 24 KiB: all of it in a 32 KiB L1.
  const Contraction c = find_workload({"ij-ik-kj", "i=32,j=32,k=32", {}, {}});
  const Machine m = find_machine("e5-2680v4");
  for (const HeldInCache& h : held_tiles(c, optimize(c, m).schedule, m)) {
    EXPECT_EQ(h.tile->total(), Bytes(3 * 32 * 32 * 8));
    EXPECT_EQ(h.tile->whole, (ByTensor<bool>{true, true, true}));
  }
}

}  // namespace
}  // namespace tcsim
