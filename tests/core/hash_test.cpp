#include "core/hash.hpp"

#include <gtest/gtest.h>

namespace tcsim {
namespace {

// The first number of the generator with seed 0, as in Vigna's splitmix64.c.
TEST(Hash, Splitmix64_is_the_published_one) { EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafu); }

// Fowler, Noll and Vo's own test vectors.
TEST(Hash, Fnv1a_is_the_published_one) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace tcsim
