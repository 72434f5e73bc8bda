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

// Seven tiles of 8 columns of one row of 56, with a filter of 3: 10 pixels are read, and 58 / 7 of
// them are a tile's own on average.
TEST(HeldTiles, Know_the_halo_of_an_image) {
  const Contraction c = find_workload({"conv1d", "k=8,c=1,x=56,s=3", {}, {}});
  Machine m = find_machine("e5-2680v4");
  for (std::size_t l = 0; l < 2; ++l) m.levels[l].capacity.value = Bytes(2048);
  const Schedule s = parse_schedule(
      "groups m=k n=nx k=cs for n by 8 { for n by 4 { for m by 8 { kernel 8x4 } } }", c, "test");
  const auto held = held_tiles(c, s, m);
  ASSERT_EQ(held.size(), 3);
  ASSERT_TRUE(held[0].tile);
  const TensorId image = TensorId::A;
  EXPECT_EQ(held[0].tile->extents, (std::array<std::int64_t, 3>{8, 8, 3}));
  EXPECT_EQ(held[0].tile->bytes[image], Bytes(10 * 4));
  EXPECT_EQ(held[0].tile->halo[image], Bytes((10 - 8) * 4));
  EXPECT_EQ(held[0].tile->halo[TensorId::B] + held[0].tile->halo[TensorId::C], Bytes(0));
  // All of it has no neighbours.
  EXPECT_EQ(held[2].tile->bytes[image], Bytes(58 * 4));
  EXPECT_EQ(held[2].tile->halo[image], Bytes(0));
}

}  // namespace
}  // namespace tcsim
