// BLIS-style block sizes.
#include "core/optimize/blis.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "tests/core/machine_files.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

Level cache(const std::string& name, std::int64_t kib, std::int64_t ways) {
  Level l = valid().levels[0];
  l.name = name;
  l.capacity.value = Bytes(kib << 10);
  l.ways.value = ways;
  return l;
}

Machine with(std::vector<Level> caches) {
  Machine m = valid();
  const Level memory = m.levels.back();
  m.levels = std::move(caches);
  m.levels.push_back(memory);
  return m;
}

TEST(Blis, Sandy_Bridge_has_the_published_blocks) {
  // The paper's table, and BLIS' own configuration "sandybridge": kc 256 and mc 96 for 8 x 4 f64.
  // L1: 64 sets x 64 B = 4096 B a way; floor(7 / 1.5) = 4 ways of A: 4 x 4096 / (8 x 8) = 256.
  // L2: 32768 B a way; B's panel of 4 x 256 x 8 B is one way; 8 - 1 - 1 = 6 ways:
  // 6 x 32768 / (256 x 8) = 96.
  // L3: 12 MiB / 16 = 786432 B a way; A's block of 96 x 2048 B is one way; 14 ways / 2048 = 5376.
  const Machine m = with({cache("L1", 32, 8), cache("L2", 256, 8), cache("L3", 12 << 10, 16)});
  EXPECT_EQ(blis_blocks(m, {Elements(8), Elements(4)}, ElementType::f64),
            (BlisBlocks{Elements(8), Elements(4), Elements(256), Elements(96), Elements(5376)}));
}

TEST(Blis, Blocks_are_whole_microkernels_and_leave_room_in_every_cache) {
  const Machine m = find_machine("e5-2680v4");
  for (const auto& [mr, nr] : {std::pair(8, 6), {6, 8}, {24, 8}, {4, 12}, {7, 5}}) {
    for (ElementType type : {ElementType::f32, ElementType::f64}) {
      const BlisBlocks b = blis_blocks(m, {Elements(mr), Elements(nr)}, type);
      const std::int64_t row = b.kc.value() * size_of(type).value();
      EXPECT_EQ(b.mc->value() % mr, 0);
      EXPECT_EQ(b.nc->value() % nr, 0);
      EXPECT_LT((mr + nr) * row, 32 << 10) << mr << "x" << nr;
      EXPECT_LT((b.mc->value() + nr) * row, 256 << 10);
      EXPECT_LT((b.nc->value() + b.mc->value()) * row, 35 << 20);
    }
  }
}

TEST(Blis, A_two_way_cache_has_no_way_to_spare_and_half_a_way_is_for_A) {
  // Equation 6: 16 KiB / 2 ways = 8192 B; 8192 / (2 x 4 x 8) = 128.
  const Machine m = with({cache("L1", 16, 2)});
  EXPECT_EQ(blis_blocks(m, {Elements(4), Elements(4)}, ElementType::f64),
            (BlisBlocks{Elements(4), Elements(4), Elements(128), {}, {}}));
}

TEST(Blis, Text_is_lines_of_a_configuration) {
  EXPECT_EQ(to_blis({Elements(8), Elements(4), Elements(256), Elements(96), {}}, ElementType::f64,
                    "small"),
            "// small, 8x4 f64: block sizes by the caches' geometry\n"
            "//                                           s      d      c      z\n"
            "bli_blksz_init_easy( &blkszs[ BLIS_MR ],    -1,     8,    -1,    -1 );\n"
            "bli_blksz_init_easy( &blkszs[ BLIS_NR ],    -1,     4,    -1,    -1 );\n"
            "bli_blksz_init_easy( &blkszs[ BLIS_MC ],    -1,    96,    -1,    -1 );\n"
            "bli_blksz_init_easy( &blkszs[ BLIS_KC ],    -1,   256,    -1,    -1 );\n"
            "// NC is free: there is no cache for its block\n");
}

TEST(Blis, A_name_does_not_leave_its_comment) {
  const std::string text = to_blis({Elements(8), Elements(4), Elements(256), {}, {}},
                                   ElementType::f64, "x\n#include \"/etc/passwd\"\r#error\\");
  EXPECT_TRUE(text.starts_with("// x\\n#include \"/etc/passwd\"\\r#error, 8x4 f64")) << text;
}

}  // namespace
}  // namespace tcsim
