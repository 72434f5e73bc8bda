#include "kernels/memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "tests/seed.hpp"

namespace tcsim {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

TEST(Memory, Takes_small_pages_for_what_is_small) {
  EXPECT_EQ(Memory::taken(Bytes(0)), Bytes(0));
  EXPECT_EQ(Memory::taken(Bytes(1)), Bytes(4096));
  EXPECT_EQ(Memory::taken(Bytes(60000)), Bytes(61440));
  EXPECT_EQ(Memory::taken(Bytes(70000)), Bytes(2 * mib));
  EXPECT_EQ(Memory::taken(Bytes(2 * mib)), Bytes(4 * mib));
}

TEST(Memory, Of_the_most_within_a_size_is_within_it_and_one_byte_more_is_not) {
  std::mt19937_64 random(test::new_seed());
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t range = std::int64_t{1} << (i % 40);
    const Bytes limit(std::uniform_int_distribution<std::int64_t>(0, range)(random));
    const Bytes most = Memory::most_within(limit);
    EXPECT_LE(Memory::taken(most), limit);
    EXPECT_GT(Memory::taken(most + Bytes(1)), limit);
  }
  EXPECT_EQ(Memory::most_within(Bytes(-3 * mib)), Bytes(0));
}

TEST(Memory, Is_zero_and_aligned_whatever_its_pages) {
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{60000}, 3 * mib}) {
    const Memory memory{Bytes(size)};
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (2 * mib), 0U);
    for (std::int64_t i = 0; i < size + 256; ++i) ASSERT_EQ(memory.data()[i], std::byte{0}) << i;
  }
}

}  // namespace
}  // namespace tcsim
